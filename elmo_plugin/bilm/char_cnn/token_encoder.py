"""A word's context-independent vector: character CNN, highway layers, projection."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from elmo_plugin.bilm.char_cnn.cached_token_encoder import CachedTokenEncoder
from elmo_plugin.bilm.char_cnn.char_cnn_inference import CharCnnInference
from elmo_plugin.bilm.char_cnn.conv_max_pool import conv_max_pool, convolution_maxima, filter_matrix
from elmo_plugin.bilm.characters import NUM_CHARACTERS
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.options import CharCnnOptions
from elmo_plugin.bilm.precision import FLOAT32, Precision
from elmo_plugin.common.errors import BiLmError

# Words of similar length are encoded together, this many at a time: on a CPU their windows stay in its cache.
TYPES_AT_A_TIME_ON_CPU = 64
TYPES_AT_A_TIME = 1024


class TokenEncoder(CachedTokenEncoder):
    """
    The token layer of a biLM (Kim et al., 2016; section 3.4 of Peters et al., 2018), with the initial values
    of the published models' training.

    Without gradients, the highway layers, which take most of the time, compute in the biLM's precision, and
    the other layers in float32.

    # Parameters

    options : `CharCnnOptions`
        The sizes of its parts.
    projection_dim : `int`
        The size of a token's vector.
    """

    def __init__(self, options: CharCnnOptions, projection_dim: int) -> None:
        super().__init__()
        self.character_embedding = nn.Embedding(NUM_CHARACTERS, options.embedding_dim, padding_idx=0)
        self._make_char_cnn(options, options.embedding_dim)
        self.projection = nn.Linear(options.n_filters, projection_dim)
        self._initialize(options)

    def _initialize(self, options: CharCnnOptions) -> None:
        """Draws the weights as the published models' training did."""
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
        self, character_ids: Tensor, precision: Precision = FLOAT32, weights: InferenceWeights | None = None
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
                weights = weights or InferenceWeights([])
                derive = partial(CharCnnInference, self, precision)
                encode = weights.get(("char_cnn", precision.name), derive)
                vectors, order = by_length(character_ids, self.widest_filter, encode)
        return vectors[order.argsort()].to(weight.dtype)

    def _encode_for_training(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the vectors, with gradients, and the number of the word that each belongs to."""
        maxima, order = convolve_by_length(character_ids, self.character_embedding, self.convolutions)
        features = self.activation(maxima)
        for highway in self.highways:  # all words at once, for large products
            features = highway(features)
        return self.projection(features), order


def convolve_by_length(
    character_ids: Tensor, embed: Callable[[Tensor], Tensor], convolutions: Sequence[nn.Conv1d]
) -> tuple[Tensor, Tensor]:
    """
    Computes the maximum of each filter over all windows of a word, with gradients, for words of similar
    length together. It is fastest if more slots of padding than the widest filter covers follow each word.

    # Parameters

    character_ids : `Tensor`
        Shape (types, characters).
    embed : `Callable[[Tensor], Tensor]`
        Returns the vectors of some words' characters, shape (some types, slots, channels).
    convolutions : `Sequence[nn.Conv1d]`
        Of `channels` input channels, with biases.

    # Returns

    `Tensor`, `Tensor`
        The maxima, shape (types, filters of all convolutions), and the word of each row, shape (types,).
    """
    filters, all_slots = filter_matrix(convolutions), character_ids.size(1)

    def convolve(some_ids: Tensor) -> Tensor:
        characters = embed(some_ids)
        if some_ids.size(1) == all_slots:  # there may be no room for the widest filter after a word
            return convolution_maxima(characters, convolutions)
        return conv_max_pool(characters, filters)

    widest_filter = max(convolution.kernel_size[0] for convolution in convolutions)
    maxima, order = by_length(character_ids, widest_filter, convolve)
    biases = cast("list[Tensor]", [convolution.bias for convolution in convolutions])
    return maxima + torch.cat(biases), order


def by_length(
    character_ids: Tensor, widest_filter: int, encode: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """
    Encodes words of similar length together, without the slots that are padding in all of them. It keeps as
    many of these as the widest filter covers, since further windows have the same values.

    # Parameters

    character_ids : `Tensor`
        Shape (types, characters).
    widest_filter : `int`
        The number of characters that it covers.
    encode : `Callable[[Tensor], Tensor]`
        Returns the vectors of some words, shape (some types, dim), from their first characters, int32.

    # Returns

    `Tensor`, `Tensor`
        The vectors of all words, shape (types, dim), and the word of each row, shape (types,).
    """
    size = TYPES_AT_A_TIME_ON_CPU if character_ids.device.type == "cpu" else TYPES_AT_A_TIME
    if len(character_ids) <= size:
        slots = int(_lengths(character_ids).max()) + widest_filter
        order = torch.arange(len(character_ids), device=character_ids.device)
        return encode(character_ids[:, :slots].int()), order
    lengths, order = _lengths(character_ids).sort()
    number_of_slots = (lengths + widest_filter).tolist()
    parts = []
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        slots = number_of_slots[start + len(rows) - 1]
        parts.append(encode(character_ids[rows, :slots].int()))
    return torch.cat(parts), order


def _lengths(character_ids: Tensor) -> Tensor:
    """Returns the number of slots before each word's padding, shape (types,)."""
    is_other = character_ids != character_ids[:, -1:]
    return (is_other * torch.arange(1, character_ids.size(1) + 1, device=character_ids.device)).amax(dim=1)


def _check_range(character_ids: Tensor) -> None:
    least, greatest = torch.stack(torch.aminmax(character_ids)).tolist()
    if least < 0 or greatest >= NUM_CHARACTERS:
        raise BiLmError(
            f"character ids are numbers from 0 to {NUM_CHARACTERS - 1}, but there are some from {least} "
            f"to {greatest}"
        )
