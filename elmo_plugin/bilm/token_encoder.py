"""A word's context-independent vector: character CNN, highway layers, projection (Kim et al.,
2016).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from elmo_plugin.bilm.batching import check_character_ids
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.convolutions import convolve_by_length, encode_by_length
from elmo_plugin.bilm.derived import DerivedValues, derive_once
from elmo_plugin.bilm.options import CharCnnOptions, LexiconCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision
from elmo_plugin.bilm.word_cache import WordCache


def highway(inputs: Tensor, transformed: Tensor, gate: Tensor) -> Tensor:
    """
    Computes a highway layer, `g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_c x + b_c)`
    (Srivastava et al., 2015). `inputs` are x; `transformed` and `gate` are the two products, and
    are changed in place. As in the published weight files, the gate weighs the transformed inputs.
    """
    weight = gate.sigmoid_().to(inputs.dtype)
    return torch.lerp(inputs, transformed.relu_().to(inputs.dtype), weight)


class Highway(nn.Module):
    """
    A `highway` layer that computes its two products with its own parameters. The parameters have
    the names of the published weight files: `carry` has the weight and the bias of the gate.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.transform = nn.Linear(dim, dim)
        self.carry = nn.Linear(dim, dim)
        for linear in (self.transform, self.carry):
            nn.init.normal_(linear.weight, std=dim**-0.5)
        nn.init.zeros_(self.transform.bias)
        nn.init.constant_(self.carry.bias, -2.0)  # at first, inputs mostly pass unchanged

    def forward(self, inputs: Tensor) -> Tensor:
        gate = self.carry(inputs)
        transformed = self.transform(inputs)
        return highway(inputs, transformed, gate)


class PackedHighway:
    """
    A `highway` layer without gradients: one product with the weights of both, in a given precision.
    """

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
    Turns the maxima of the filters into the features of words, both of shape (words, filters). All
    token encoders do so in the same way, with trained or frozen weights. Only the maxima and the
    highway layers are computed in different ways.
    """
    features = activation(maxima)
    for layer in highways:
        features = layer(features)
    return features


class CachedTokenEncoder(nn.Module):
    """
    The base of token encoders: encodes each distinct word once and stores its vector while the
    weights are frozen.

    Subclasses have a `projection`, their last layer. They define `encode_words`: it computes the
    vectors of at least one word, from shape (words, characters) to shape (words, projection_dim),
    and does not store them. Subclasses that read characters also have a `character_embedding`, and
    the layers that `_make_char_cnn` makes.

    The attribute `word_cache_size` is the largest number of stored word vectors; 0 for none. With
    the default, the vectors of words of up to 50 characters take at most 74 MB if they have 512
    numbers each, and 24 MB if they have 128.
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
        """Encodes distinct words, or looks up their vectors in the cache of `derived`."""
        if len(character_ids) == 0:
            return self.projection.weight.new_zeros(0, self.projection.out_features)
        if derived is None:  # the weights are trained, so no vector is stored
            return self.encode_words(character_ids, precision, derived)
        encode = partial(self.encode_words, precision=precision, derived=derived)
        cache_key = ("words", precision.name)
        cache = derived.get_or_derive(cache_key, WordCache, self.word_cache_size)
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
            self.character_embedding.weight[0].zero_()  # the row of `padding_idx`
        for convolution in self.convolutions:
            nn.init.zeros_(cast(Tensor, convolution.bias))
            if options.activation == "relu":
                nn.init.uniform_(convolution.weight, -0.05, 0.05)
            else:
                nn.init.normal_(convolution.weight, std=convolution.weight[0].numel() ** -0.5)
        nn.init.normal_(self.projection.weight, std=options.n_filters**-0.5)
        nn.init.zeros_(self.projection.bias)

    def encode_words(
        self, character_ids: Tensor, precision: Precision, derived: DerivedValues | None
    ) -> Tensor:
        """Returns the vectors of at least one word, shape (words, projection_dim)."""
        check_character_ids(character_ids)
        weight = self.projection.weight
        if self._uses_parameters(precision, derived):
            maxima, order = convolve_by_length(
                character_ids, self.character_embedding, self.convolutions
            )
            # All words at once, for large products.
            vectors = self.projection(word_features(maxima, self.activation, self.highways))
        else:
            with torch.no_grad(), torch.autocast(weight.device.type, enabled=False):
                key = ("char_cnn", precision.name)
                frozen = derive_once(derived, key, FrozenCharCnn, self, precision)
                vectors, order = encode_by_length(character_ids, self.widest_filter, frozen)
        in_given_order = order.argsort()
        return vectors[in_given_order].to(weight.dtype)  # Shape: (words, projection_dim)

    def _uses_parameters(self, precision: Precision, derived: DerivedValues | None) -> bool:
        """
        Returns whether to compute with the parameters themselves, and not with the tables of
        `FrozenCharCnn`.

        Frozen weights are used as tables, because these serve for many batches. Weights that are
        being trained are used themselves: gradients need them, and tables would serve for a single
        batch only. The exception is another precision than float32 without gradients, because only
        the tables compute in it.
        """
        if derived is not None:  # only frozen weights have derived values
            return False
        is_trainable = any(parameter.requires_grad for parameter in self.parameters())
        return is_trainable and (torch.is_grad_enabled() or precision.name == "float32")


class FrozenCharCnn:
    """
    A token encoder without gradients.

    A convolution over the vectors of characters is a sum with one summand for each character, so
    each convolution becomes a table: row (k, c) is what the character c adds at position k of a
    window. Summing rows takes a fraction of the time of the products, and is as exact.

    Most of the remaining time is spent on the products of the highway layers, computed in
    the given precision. The vector that a highway layer carries on stays in float32, and so does
    the projection: it takes only a tenth of the time, but would double the error.
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
    Returns what each character adds to each filter at each position of a window, shape (width,
    characters, filters). The rows of the first position include the bias.
    """
    # c: characters, d: dimensions of their vectors, n: filters, k: positions of the window
    table = torch.einsum("cd,ndk->kcn", character_vectors, convolution.weight).contiguous()
    table[0] += cast(Tensor, convolution.bias)  # a window has one first position: added once
    return table


def _maxima(character_ids: Tensor, table: Tensor) -> Tensor:
    """
    Returns the maximum of each filter over all windows of a word, shape (words, filters). `table`
    is one that `_table` made.
    """
    width, characters, filters = table.shape
    # The table as a matrix: the rows for a window's second position follow the ones for its first.
    matrix = table.flatten(0, 1)
    # For each position, the row of the character 0.
    first_rows = torch.arange(
        0, len(matrix), characters, device=table.device, dtype=character_ids.dtype
    )
    windows = character_ids.unfold(1, width, 1)  # Shape: (words, windows, width)
    rows = windows + first_rows
    sums = F.embedding_bag(rows.flatten(0, 1), matrix, mode="sum")
    return sums.view(*windows.shape[:2], filters).amax(dim=1)
