"""A word's context-independent vector: character CNN, highway layers, projection (Kim et al.,
2016).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.batching import check_character_ids
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.derived import DerivedValues, WordCache, derive_once
from elmo_plugin.bilm.options import CharCnnOptions, LexiconCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision, autocast_dtype

# Words of similar length are encoded together, this many at a time: on a CPU their windows stay in
# its cache.
WORDS_AT_A_TIME_ON_CPU = 64
WORDS_AT_A_TIME = 1024


def highway(inputs: Tensor, transformed: Tensor, gate: Tensor) -> Tensor:
    """
    Computes a highway layer, `g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_c x + b_c)`
    (Srivastava et al., 2015), from its inputs x and the two products. Changes the products in
    place. The sign of the gate is that of the published weight files.
    """
    weight = gate.sigmoid_().to(inputs.dtype)
    return torch.lerp(inputs, transformed.relu_().to(inputs.dtype), weight)


class Highway(nn.Module):
    """A `highway` layer with the two products of its parameters."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.transform = nn.Linear(dim, dim)
        self.carry = nn.Linear(dim, dim)
        for linear in (self.transform, self.carry):
            nn.init.normal_(linear.weight, std=dim**-0.5)
        nn.init.zeros_(self.transform.bias)
        nn.init.constant_(self.carry.bias, -2.0)

    def forward(self, inputs: Tensor) -> Tensor:
        gate = self.carry(inputs)
        transformed = self.transform(inputs)
        return highway(inputs, transformed, gate)


class PackedHighway:
    """A `highway` layer without gradients: one product, in a given precision, for both parts."""

    def __init__(self, layer: Highway, precision: Precision) -> None:
        weight = torch.cat([layer.transform.weight, layer.carry.weight])
        bias = torch.cat([layer.transform.bias, layer.carry.bias])
        self._linear = precision.pack(weight, bias)

    def __call__(self, inputs: Tensor) -> Tensor:
        products = self._linear(inputs).to(inputs.dtype)  # Shape: (words, 2 * dim)
        transformed, gate = products.chunk(2, dim=1)
        return highway(inputs, transformed, gate)


def word_features(
    maxima: Tensor,
    activation: Callable[[Tensor], Tensor],
    highways: Iterable[Callable[[Tensor], Tensor]],
) -> Tensor:
    """
    Returns the features of words from the maxima of their filters, both (words, filters). Training,
    frozen weights and lexicons differ in how the maxima and the highway layers are computed.
    """
    features = activation(maxima)
    for layer in highways:
        features = layer(features)
    return features


class CachedTokenEncoder(nn.Module):
    """
    The base of token encoders: encodes each distinct word once and stores its vector while the
    weights are frozen.

    Subclasses have a `projection`, their last layer, and define `encode_words`: from at least one
    word, shape (words, characters), to shape (words, projection_dim), whether or not their vectors
    are stored. Those that read characters also have a `character_embedding`, and the layers that
    `_make_char_cnn` makes.

    The attribute `word_cache_size` is the largest number of stored word vectors; 0 for none. With
    the default and words of 50 characters they take up to 74 MB for vectors of 512 numbers, 24 MB
    for 128.
    """

    word_cache_size = 32768

    encode_words: Callable[..., Tensor]
    character_embedding: nn.Embedding
    convolutions: Sequence[nn.Conv1d]
    highways: nn.Sequential
    activation: Callable[[Tensor], Tensor]
    widest_filter: int
    projection: nn.Linear

    def _make_char_cnn(
        self, options: CharCnnOptions | LexiconCnnOptions, character_dim: int
    ) -> None:
        """Makes the convolutions over character vectors, and the highway layers."""
        convolutions = nn.ModuleList()
        for width, number in options.filters:
            convolutions.append(nn.Conv1d(character_dim, number, width))
        self.convolutions = cast("Sequence[nn.Conv1d]", convolutions)
        self.highways = nn.Sequential()
        for _ in range(options.n_highway):
            self.highways.append(Highway(options.n_filters))
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.widest_filter = max(width for width, _ in options.filters)

    def forward(
        self,
        character_ids: Tensor,
        precision: Precision = FLOAT32,
        derived: DerivedValues | None = None,
    ) -> Tensor:
        """Encodes distinct words or looks up their vectors in the cache of `derived`."""
        if len(character_ids) == 0:
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        if derived is None:
            return self.encode_words(character_ids, precision)
        encode = partial(self.encode_words, precision=precision, derived=derived)
        cache = derived.get(("words", precision.name), WordCache, self.word_cache_size)
        return cache.look_up(character_ids, encode)


class TokenEncoder(CachedTokenEncoder):
    """
    The token layer of a biLM (section 3.4 of Peters et al., 2018), with the initial values of the
    published models' training. Without gradients, the highway layers (most of the time) compute in
    the biLM's precision, and the other layers in float32.
    """

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self.character_embedding = nn.Embedding(
            NUM_CHARACTERS, options.embedding_dim, padding_idx=0
        )
        self._make_char_cnn(options, options.embedding_dim)
        self.projection = nn.Linear(options.n_filters, projection_dim)
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
        self,
        character_ids: Tensor,
        precision: Precision = FLOAT32,
        derived: DerivedValues | None = None,
    ) -> Tensor:
        check_character_ids(character_ids)
        weight = self.projection.weight
        if self._needs_parameters(precision, derived):
            maxima, order = convolve_by_length(
                character_ids, self.character_embedding, self.convolutions
            )
            # All words at once, for large products.
            vectors = self.projection(word_features(maxima, self.activation, self.highways))
        else:
            with torch.no_grad(), torch.autocast(weight.device.type, enabled=False):
                key = ("char_cnn", precision.name)
                frozen = derive_once(derived, key, FrozenCharCnn, self, precision)
                vectors, order = by_length(character_ids, self.widest_filter, frozen)
        return vectors[order.argsort()].to(weight.dtype)  # Shape: (words, projection_dim)

    def _needs_parameters(self, precision: Precision, derived: DerivedValues | None) -> bool:
        """
        Returns whether the parameters themselves are used, rather than values derived from them:
        for gradients, and while they are trained, when it would be derived for a single batch.
        """
        if derived is not None:  # only frozen weights have derived values
            return False
        is_trainable = any(parameter.requires_grad for parameter in self.parameters())
        return is_trainable and (torch.is_grad_enabled() or precision.name == "float32")


class FrozenCharCnn:
    """
    A token encoder without gradients.

    A convolution over the vectors of characters is a sum of one row a character: row (k, c) of its
    table is the contribution of the character c at position k of a window. Reading these sums takes
    a fraction of the time of the products, and is as exact. The products of the highway layers,
    most of the remaining time, are in the given precision. The vector that they carry is not
    rounded to it, nor is the projection: it takes a tenth of their time and would double the error.
    """

    def __init__(self, encoder: CachedTokenEncoder, precision: Precision) -> None:
        vectors = encoder.character_embedding.weight
        self._tables = [_table(vectors, convolution) for convolution in encoder.convolutions]
        self._highways = [
            PackedHighway(cast(Highway, layer), precision) for layer in encoder.highways
        ]
        self._projection = FLOAT32.pack(encoder.projection.weight, encoder.projection.bias)
        self._activation = encoder.activation

    def __call__(self, character_ids: Tensor) -> Tensor:
        """Encodes words of shape (words, characters) to shape (words, dim)."""
        # Shape: (words, filters)
        maxima = torch.cat([_maxima(character_ids, table) for table in self._tables], dim=1)
        return self._projection(word_features(maxima, self._activation, self._highways))


def _table(character_vectors: Tensor, convolution: nn.Conv1d) -> Tensor:
    """
    Shape (width, characters, filters); the rows of a window's first position include the bias.
    """
    table = torch.einsum("cd,ndk->kcn", character_vectors, convolution.weight).contiguous()
    table[0] += cast(Tensor, convolution.bias)
    return table


def _maxima(character_ids: Tensor, table: Tensor) -> Tensor:
    """Returns the maximum of each filter over all windows of a word, shape (words, filters)."""
    width, number, filters = table.shape
    first_rows = torch.arange(
        0, width * number, number, device=table.device, dtype=character_ids.dtype
    )
    windows = character_ids.unfold(1, width, 1) + first_rows  # Shape: (words, windows, width)
    sums = F.embedding_bag(windows.flatten(0, 1), table.flatten(0, 1), mode="sum")
    return sums.view(*windows.shape[:2], filters).amax(dim=1)


def by_length(
    character_ids: Tensor, widest_filter: int, encode: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """
    Encodes words of similar length together, without the slots that are padding in all of them. It
    keeps as many of these as the widest filter covers, because further windows have the same
    values. `encode` takes ids of shape (some words, some slots), int32, and returns vectors of
    shape (some words, dim).

    Returns the vectors of all words, shape (words, dim), and the word of each row, shape (words,).
    """
    is_on_cpu = character_ids.device.type == "cpu"
    size = WORDS_AT_A_TIME_ON_CPU if is_on_cpu else WORDS_AT_A_TIME
    if len(character_ids) <= size:
        slots = max(_lengths(character_ids).tolist(), default=0) + widest_filter
        order = torch.arange(len(character_ids), device=character_ids.device)
        return encode(character_ids[:, :slots].int()), order
    lengths, order = _lengths(character_ids).sort()
    slots_of_words = (lengths + widest_filter).tolist()
    parts = []
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        slots = slots_of_words[start + len(rows) - 1]
        parts.append(encode(character_ids[rows, :slots].int()))
    return torch.cat(parts), order


def _lengths(character_ids: Tensor) -> Tensor:
    """Returns the number of slots before each word's padding, shape (words,)."""
    is_character = character_ids != character_ids[:, -1:]
    slots = torch.arange(1, character_ids.size(1) + 1, device=character_ids.device)
    return (is_character * slots).amax(dim=1)


def convolve_by_length(
    character_ids: Tensor, embed: Callable[[Tensor], Tensor], convolutions: Sequence[nn.Conv1d]
) -> tuple[Tensor, Tensor]:
    """
    Computes the maxima of all filters with their biases. It is fastest if more slots of padding
    than the widest filter covers follow each word. `embed` returns the vectors of characters, shape
    (some words, slots, channels).

    Returns the maxima, shape (words, filters of all convolutions), and the word of each row, shape
    (words,).
    """
    widest_filter = max(convolution.kernel_size[0] for convolution in convolutions)
    # All filters, padded with zeros to the widest, shape (filters, channels, width), as a matrix.
    padded = [F.pad(conv.weight, (0, widest_filter - conv.kernel_size[0])) for conv in convolutions]
    matrix = torch.cat(padded).transpose(1, 2).flatten(1).t()  # Shape: (width * channels, filters)
    is_grad_enabled = torch.is_grad_enabled()

    def convolve(some_ids: Tensor) -> Tensor:
        characters = embed(some_ids)  # Shape: (some words, slots, channels)
        if some_ids.size(1) < character_ids.size(1):
            return WindowMaxima.apply(characters, matrix, is_grad_enabled)
        # Perhaps without room for the widest filter. Windows that share the maximum share its
        # gradient.
        maxima = [
            F.conv1d(characters.transpose(1, 2), conv.weight).amax(dim=2) for conv in convolutions
        ]
        return torch.cat(maxima, dim=1).to(characters.dtype)

    maxima, order = by_length(character_ids, widest_filter, convolve)
    biases = cast("list[Tensor]", [convolution.bias for convolution in convolutions])
    return maxima + torch.cat(biases), order


class WindowMaxima(Function):
    """
    Computes the maxima of all filters over windows as one product with a matrix of the filters;
    under autocast, in its type. Narrower filters see the windows of the widest only, so `width`
    slots of padding must follow the characters. `is_grad_enabled` tells about the caller: gradients
    are always disabled here.
    """

    @staticmethod
    def forward(ctx: Any, characters: Tensor, filters: Tensor, is_grad_enabled: bool) -> Tensor:
        dtype = autocast_dtype(characters)
        words, slots, channels = characters.shape
        width = len(filters) // channels
        sizes = (words, slots - width + 1, width * channels)
        strides = (slots * channels, channels, 1)
        with torch.autocast(characters.device.type, enabled=False):
            windows = characters.to(dtype).contiguous().as_strided(sizes, strides).flatten(0, 1)
            values = (windows @ filters.to(dtype)).unflatten(0, sizes[:2])
            maxima = values.amax(dim=1)
        if is_grad_enabled and any(ctx.needs_input_grad):
            # In place, and not as booleans: on a CPU that is several times as fast.
            is_greatest = torch.eq(values, maxima[:, None], out=values)
            ctx.save_for_backward(windows, filters, is_greatest, is_greatest.sum(dim=1))
            ctx.shape = characters.shape
        return maxima.to(characters.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_maxima: Tensor) -> tuple[Tensor | None, ...]:
        windows, filters, is_greatest, times = ctx.saved_tensors
        d_maxima = d_maxima.to(windows.dtype) / times
        d_values = (is_greatest * d_maxima[:, None]).flatten(0, 1)
        d_filters = (windows.t() @ d_values).to(filters.dtype)
        d_windows = (d_values @ filters.t().to(windows.dtype)).to(filters.dtype)
        words, _, channels = ctx.shape
        positions = d_windows.view(words, -1, len(filters) // channels, channels)
        d_characters = d_windows.new_zeros(ctx.shape)
        for offset, d_offset in enumerate(positions.unbind(dim=2)):
            d_characters[:, offset : offset + d_offset.size(1)] += d_offset
        return d_characters, d_filters, None
