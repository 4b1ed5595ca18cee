"""The layers of a biLM, with parameters that have the names, shapes and values of AllenNLP's."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm import (
    BEGIN_SENTENCE_TOKEN,
    END_SENTENCE_TOKEN,
    CharCnnOptions,
    LstmOptions,
    add_boundaries,
    word_to_character_ids,
)
from elmo_plugin.bilm.char_cnn import TokenEncoder
from elmo_plugin.bilm.io import bias_from_allennlp, split_highway, swap_gates
from elmo_plugin.bilm.lstm import LstmLayer, LstmWeights
from elmo_plugin.embedding import BiLmSession

CHARACTERS = "_char_embedding_weights"


def hide(module: nn.Module, name: str) -> Any:
    """Removes a part from the `state_dict` of a module and leaves it as an attribute. Returns the part."""
    module.__dict__[name] = module._modules.pop(name)
    return module.__dict__[name]


class CharacterEncoder(TokenEncoder):
    """
    Gives words the vectors that do not depend on their context: `_token_embedder` of `ElmoBiLm`. It is called
    as AllenNLP's `_ElmoCharacterEncoder` is; a biLM calls its `encode`.

    # Parameters

    options : `CharCnnOptions`
        The sizes of its parts.
    projection_dim : `int`
        The size of a word's vector, which AllenNLP calls `output_dim`.

    The attributes `_options`, the content of `options.json`, and `_weight_file` are for scripts that copy the
    model's files; the second is `None` where the biLM was not read from such a file.
    """

    _options: dict[str, Any]
    _weight_file: str | None = None

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__(options, projection_dim)
        self.options = options
        self.output_dim = projection_dim
        self.register_parameter(CHARACTERS, hide(self, "character_embedding").weight)
        for number, convolution in enumerate(hide(self, "convolutions")):
            self.add_module(f"char_conv_{number}", convolution)
        self._highways = nn.Module()
        highways = (HighwayLayer(options.n_filters) for _ in hide(self, "highways"))
        self._highways._layers = nn.ModuleList(highways)
        self._projection = hide(self, "projection")
        # Parameters are replaced by others when a module moves: these are found by their names.
        self.__dict__["character_embedding"] = _CharacterEmbedding(self._parameters)
        self.__dict__["highways"] = list(self._highways._layers)

    def get_output_dim(self) -> int:
        return self.output_dim

    def forward(self, inputs: Tensor) -> dict[str, Tensor]:
        """
        # Parameters

        inputs : `Tensor`
            Character ids, shape (batch, time, characters).

        # Returns

        `dict[str, Tensor]`
            `token_embedding`, shape (batch, time + 2, output_dim), zeros at padding; and `mask`, shape
            (batch, time + 2). Sentence boundaries are in them.
        """
        words = (BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN)
        slots = self.options.max_characters_per_token
        boundaries = torch.stack([inputs.new_tensor(word_to_character_ids(word, slots)) for word in words])
        ids, mask = add_boundaries(inputs, (inputs > 0).any(dim=-1), boundaries)
        vectors = self.encode(ids[mask])
        token_embedding = vectors.new_zeros(*mask.shape, self.output_dim)
        return {"token_embedding": token_embedding.index_put((mask,), vectors), "mask": mask}


class _CharacterEmbedding:
    """Acts as an `nn.Embedding` whose weight is a parameter of the encoder itself."""

    def __init__(self, parameters: Mapping[str, nn.Parameter | None]) -> None:
        self._parameters = parameters

    @property
    def weight(self) -> Tensor:
        return cast(Tensor, self._parameters[CHARACTERS])

    def __call__(self, character_ids: Tensor) -> Tensor:
        return nn.functional.embedding(character_ids, self.weight)


class HighwayLayer(nn.Linear):
    """
    Our `Highway` with the parameters of a layer of AllenNLP's.

    # Parameters

    dim : `int`
        The size of input and output.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim, 2 * dim)

    def forward(self, inputs: Tensor) -> Tensor:
        transformed, carried = super().forward(inputs).to(inputs.dtype).chunk(2, dim=-1)
        return torch.lerp(torch.relu(transformed), inputs, torch.sigmoid(carried))

    def joined_weights(self) -> tuple[Tensor, Tensor]:
        """Returns what our `Highway` gives."""
        weight, bias = (torch.cat(split_highway(joined)) for joined in (self.weight, self.bias))
        return weight, bias


class LstmCell(LstmLayer):
    """
    Our `LstmLayer` with the parameters of AllenNLP's `LstmCellWithProjection`.

    # Parameters

    input_dim, options
        See `LstmLayer`.
    """

    def __init__(self, input_dim: int, options: LstmOptions) -> None:
        super().__init__(input_dim, options)
        self._parameters.clear()
        self.input_linearity = nn.Linear(input_dim, 4 * options.dim, bias=False)
        self.state_linearity = nn.Linear(options.projection_dim, 4 * options.dim)
        self.state_projection = nn.Linear(options.dim, options.projection_dim, bias=False)

    @property
    def weights(self) -> LstmWeights:
        return LstmWeights(
            swap_gates(self.input_linearity.weight),
            swap_gates(self.state_linearity.weight),
            bias_from_allennlp(self.state_linearity.bias),
            self.state_projection.weight,
        )


class ElmoLstm(nn.Module):
    """
    The layers of both directions: `_elmo_lstm` of `ElmoBiLm`. The biLM as a whole runs them.

    # Parameters

    forward_layers, backward_layers : `Sequence[LstmCell]`
        From the first to the last.
    options : `LstmOptions`
        The sizes.
    """

    session: BiLmSession  # the state, which `ElmoBiLm` carries

    def __init__(
        self, forward_layers: Sequence[LstmCell], backward_layers: Sequence[LstmCell], options: LstmOptions
    ) -> None:
        super().__init__()
        for number, layers in enumerate(zip(forward_layers, backward_layers, strict=True)):
            for direction, layer in zip(("forward", "backward"), layers, strict=True):
                self.add_module(f"{direction}_layer_{number}", layer)
        self.forward_layers, self.backward_layers = list(forward_layers), list(backward_layers)
        self.input_size = self.hidden_size = options.projection_dim
        self.cell_size = options.dim
        self.num_layers = options.n_layers

    @property
    def stateful(self) -> bool:
        """Whether the state is carried from batch to batch; AllenNLP's users switch it off here."""
        return self.session.stateful

    @stateful.setter
    def stateful(self, stateful: bool) -> None:
        self.session.stateful = stateful

    def reset_states(self) -> None:
        """Lets the next batch start from zero."""
        self.session.reset_state()
