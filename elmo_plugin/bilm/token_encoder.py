"""A word's context-independent vector: character CNN, highway layers, projection (Kim et al., 2016)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from elmo_plugin.bilm.char_maxima import by_length, convolve_by_length
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.derived import DerivedValues, WordCache, derive_once
from elmo_plugin.bilm.options import CharCnnOptions, LexiconCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision
from elmo_plugin.common.errors import BiLmError


class Highway(nn.Module):
    """
    `y = g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_c x + b_c)` (Srivastava et al., 2015), with
    the sign of the gate as in the published weight files.
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
        gate = torch.sigmoid(self.carry(inputs)).to(inputs.dtype)
        return torch.lerp(inputs, torch.relu(self.transform(inputs)).to(inputs.dtype), gate)

    def joined_weights(self) -> tuple[Tensor, Tensor]:
        """Returns weight and bias of one product for both: W_t above W_c, b_t before b_c."""
        weight = torch.cat([self.transform.weight, self.carry.weight])
        return weight, torch.cat([self.transform.bias, self.carry.bias])


class CachedTokenEncoder(nn.Module):
    """
    The base of token encoders: encodes each distinct word once and stores its vector while the weights are
    frozen.

    Subclasses have a `projection`, their last layer, and define `encode_words`. Those that read characters
    also have a `character_embedding`, and the layers that `_make_char_cnn` makes.

    The attribute `word_cache_size` is the largest number of stored word vectors; 0 for none. With the default
    and words of 50 characters they take up to 71 MB for vectors of 512 numbers, 21 MB for 128.
    """

    word_cache_size = 32768

    character_embedding: nn.Embedding
    convolutions: Sequence[nn.Conv1d]
    highways: Sequence[Highway]
    activation: Callable[[Tensor], Tensor]
    widest_filter: int
    projection: nn.Linear

    def _make_char_cnn(self, options: CharCnnOptions | LexiconCnnOptions, character_dim: int) -> None:
        """Makes the convolutions over character vectors, and the highway layers."""
        convolutions = (nn.Conv1d(character_dim, number, width) for width, number in options.filters)
        self.convolutions = cast("Sequence[nn.Conv1d]", nn.ModuleList(convolutions))
        highways = (Highway(options.n_filters) for _ in range(options.n_highway))
        self.highways = cast("Sequence[Highway]", nn.ModuleList(highways))
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.widest_filter = max(width for width, _ in options.filters)

    def encode_words(
        self, character_ids: Tensor, precision: Precision = FLOAT32, derived: DerivedValues | None = None
    ) -> Tensor:
        """
        Encodes words of shape (words, characters) to shape (words, projection_dim), whether or not their
        vectors are stored.

        Raises `BiLmError` if a number is not a character id.
        """
        raise NotImplementedError

    def forward(
        self, character_ids: Tensor, precision: Precision = FLOAT32, derived: DerivedValues | None = None
    ) -> Tensor:
        """Encodes distinct words or looks up their vectors in the cache of `derived`."""
        if derived is None:
            return self.encode_words(character_ids, precision)
        encode = partial(self.encode_words, precision=precision, derived=derived)
        cache = derived.get(("words", precision.name), WordCache, self.word_cache_size)
        return cache.look_up(character_ids, encode)


class TokenEncoder(CachedTokenEncoder):
    """
    The token layer of a biLM (section 3.4 of Peters et al., 2018), with the initial values of the published
    models' training. Without gradients, the highway layers (most of the time) compute in the biLM's
    precision, and the other layers in float32.
    """

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self.character_embedding = nn.Embedding(NUM_CHARACTERS, options.embedding_dim, padding_idx=0)
        self._make_char_cnn(options, options.embedding_dim)
        self.projection = nn.Linear(options.n_filters, projection_dim)
        self._initialize(options)

    def _initialize(self, options: CharCnnOptions) -> None:
        nn.init.uniform_(self.character_embedding.weight, -1.0, 1.0)
        with torch.no_grad():
            self.character_embedding.weight[0].zero_()
        for convolution in self.convolutions:
            nn.init.zeros_(cast(Tensor, convolution.bias))
            if options.activation == "relu":
                nn.init.uniform_(convolution.weight, -0.05, 0.05)
            else:
                nn.init.normal_(convolution.weight, std=convolution.weight[0].numel() ** -0.5)
        nn.init.normal_(self.projection.weight, std=options.n_filters**-0.5)
        nn.init.zeros_(self.projection.bias)

    def encode_words(
        self, character_ids: Tensor, precision: Precision = FLOAT32, derived: DerivedValues | None = None
    ) -> Tensor:
        weight = self.projection.weight
        if len(character_ids) == 0:
            return weight.new_zeros(0, len(weight))
        _check_range(character_ids)
        is_trainable = any(parameter.requires_grad for parameter in self.parameters())
        if is_trainable and (torch.is_grad_enabled() or precision.name == "float32"):
            vectors, order = self._encode_for_training(character_ids)
        else:
            with torch.no_grad(), torch.autocast(weight.device.type, enabled=False):
                frozen = derive_once(derived, ("char_cnn", precision.name), FrozenCharCnn, self, precision)
                vectors, order = by_length(character_ids, self.widest_filter, frozen)
        return vectors[order.argsort()].to(weight.dtype)

    def _encode_for_training(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the vectors, with gradients, and the number of the word that each belongs to."""
        maxima, order = convolve_by_length(character_ids, self.character_embedding, self.convolutions)
        features = self.activation(maxima)
        for highway in self.highways:  # all words at once, for large products
            features = highway(features)
        return self.projection(features), order


class FrozenCharCnn:
    """
    A token encoder without gradients.

    A convolution over the vectors of characters is a sum of one row a character: row (k, c) of its table is
    the contribution of the character c at position k of a window. Reading these sums takes a fraction of the
    time of the products, and is as exact. The products of the highway layers, most of the remaining time, are
    in the given precision. The vector that they carry is not rounded to it, nor is the projection: it takes a
    tenth of their time and would double the error.
    """

    def __init__(self, encoder: CachedTokenEncoder, precision: Precision) -> None:
        projection = encoder.projection
        vectors = encoder.character_embedding.weight
        self._tables = [_table(vectors, convolution) for convolution in encoder.convolutions]
        self._highways = [precision.pack(*layer.joined_weights()) for layer in encoder.highways]
        self._projection = FLOAT32.pack(projection.weight, projection.bias)
        self._activation = encoder.activation

    def __call__(self, character_ids: Tensor) -> Tensor:
        """Encodes words of shape (words, characters) to shape (words, dim)."""
        maxima = torch.cat([_maxima(character_ids, table) for table in self._tables], dim=1)
        features = self._activation(maxima)
        for linear in self._highways:
            transformed, gate = linear(features).to(features.dtype).chunk(2, dim=1)
            features = torch.lerp(features, transformed.relu_(), gate.sigmoid_())
        return self._projection(features)


def _table(character_vectors: Tensor, convolution: nn.Conv1d) -> Tensor:
    """Shape (width, characters, filters); the rows of a window's first position include the bias."""
    table = torch.einsum("cd,ndk->kcn", character_vectors, convolution.weight).contiguous()
    if convolution.bias is not None:
        table[0] += convolution.bias
    return table


def _maxima(character_ids: Tensor, table: Tensor) -> Tensor:
    """Returns the maximum of each filter over all windows of a word, shape (words, filters)."""
    width, number, filters = table.shape
    first_rows = torch.arange(0, width * number, number, device=table.device, dtype=character_ids.dtype)
    windows = character_ids.unfold(1, width, 1) + first_rows  # Shape: (words, windows, width)
    sums = F.embedding_bag(windows.flatten(0, 1), table.flatten(0, 1), mode="sum")
    return sums.view(*windows.shape[:2], filters).amax(dim=1)


def _check_range(character_ids: Tensor) -> None:
    least, greatest = torch.stack(torch.aminmax(character_ids)).tolist()
    if least < 0 or greatest >= NUM_CHARACTERS:
        raise BiLmError(
            f"character ids must be from 0 to {NUM_CHARACTERS - 1}, not from {least} to {greatest}"
        )
