"""A word's context-independent vector: character CNN, highway layers, projection."""

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.options import CharCnnOptions


class Highway(nn.Module):
    """
    `y = g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_c x + b_c)` (Srivastava et al., 2015), with
    the sign of the gate as in the published weight files.

    # Parameters

    dim : `int`
        The size of input and output.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.transform = nn.Linear(dim, dim)
        self.carry = nn.Linear(dim, dim)
        for linear in (self.transform, self.carry):
            nn.init.normal_(linear.weight, std=dim**-0.5)
        nn.init.zeros_(self.transform.bias)
        nn.init.constant_(self.carry.bias, -2.0)

    def forward(self, inputs: Tensor) -> Tensor:
        gate = torch.sigmoid(self.carry(inputs))
        return torch.lerp(inputs, torch.relu(self.transform(inputs)), gate)


class TokenEncoder(nn.Module):
    """
    The token layer of a biLM (Kim et al., 2016; section 3.4 of Peters et al., 2018).

    # Parameters

    options : `CharCnnOptions`
        The sizes of its parts.
    projection_dim : `int`
        The size of a token's vector.
    """

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.character_embedding = nn.Embedding(NUM_CHARACTERS, options.embedding_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(options.embedding_dim, number, width) for width, number in options.filters
        )
        self.highways = nn.ModuleList(Highway(options.n_filters) for _ in range(options.n_highway))
        self.projection = nn.Linear(options.n_filters, projection_dim)
        self._widest_filter = max(width for width, _ in options.filters)
        self._initialize(options)

    def _initialize(self, options: CharCnnOptions) -> None:
        """Draws the weights as the published models' training did."""
        nn.init.uniform_(self.character_embedding.weight, -1.0, 1.0)
        with torch.no_grad():
            self.character_embedding.weight[0].zero_()
        for name, parameter in self.convolutions.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif options.activation == "relu":
                nn.init.uniform_(parameter, -0.05, 0.05)
            else:
                nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
        nn.init.normal_(self.projection.weight, std=options.n_filters**-0.5)
        nn.init.zeros_(self.projection.bias)

    def forward(self, character_ids: Tensor) -> Tensor:
        """
        Encodes each distinct word once and gives its vector to all its occurrences.

        # Parameters

        character_ids : `Tensor`
            Shape (..., characters), integers.

        # Returns

        `Tensor`
            Shape (..., projection_dim).
        """
        tokens = character_ids.reshape(-1, character_ids.size(-1))
        types, type_of_token = torch.unique(tokens, dim=0, return_inverse=True)
        vectors = self.encode_types(types)[type_of_token]
        return vectors.view(*character_ids.shape[:-1], vectors.size(-1))

    def encode_types(self, character_ids: Tensor) -> Tensor:
        """
        # Parameters

        character_ids : `Tensor`
            Shape (types, characters), integers, one row a word.

        # Returns

        `Tensor`
            Shape (types, projection_dim).
        """
        characters = self.character_embedding(self._without_needless_padding(character_ids).int())
        characters = characters.transpose(1, 2)  # Shape: (types, embedding_dim, characters)
        features = torch.cat([conv(characters).amax(dim=2) for conv in self.convolutions], dim=1)
        features = self.activation(features)  # Shape: (types, n_filters)
        for highway in self.highways:
            features = highway(features)
        return self.projection(features)

    def _without_needless_padding(self, character_ids: Tensor) -> Tensor:
        """
        Cuts the slots that are padding in every word, down to as many as the widest filter covers: a filter
        gives the same value on all of its windows that lie in padding, so one such window is enough.
        """
        if len(character_ids) == 0:
            return character_ids
        is_padding = (character_ids == character_ids[:, -1:]).all(dim=0)
        trailing = int(is_padding.flip(0).int().cumprod(0).sum())
        needless = max(trailing - self._widest_filter, 0)
        return character_ids[:, : character_ids.size(1) - needless]
