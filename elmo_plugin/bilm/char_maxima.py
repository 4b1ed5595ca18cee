"""
The convolutions of a character CNN with gradients: the maximum of each filter over all windows of a word.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.precision import autocast_dtype

# Words of similar length are encoded together, this many at a time: on a CPU their windows stay in its cache.
WORDS_AT_A_TIME_ON_CPU = 64
WORDS_AT_A_TIME = 1024


def by_length(
    character_ids: Tensor, widest_filter: int, encode: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """
    Encodes words of similar length together, without the slots that are padding in all of them. It keeps as
    many of these as the widest filter covers, because further windows have the same values. `encode` takes
    ids of shape (some words, some slots), int32, and returns vectors of shape (some words, dim).

    Returns the vectors of all words, shape (words, dim), and the word of each row, shape (words,).
    """
    size = WORDS_AT_A_TIME_ON_CPU if character_ids.device.type == "cpu" else WORDS_AT_A_TIME
    if len(character_ids) <= size:
        slots = int(_lengths(character_ids).max()) + widest_filter
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
    Computes the maxima of all filters with their biases. It is fastest if more slots of
    padding than the widest filter covers follow each word. `embed` returns the vectors of characters, shape
    (some words, slots, channels).

    Returns the maxima, shape (words, filters of all convolutions), and the word of each row, shape (words,).
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


def convolution_maxima(characters: Tensor, convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """
    Returns the maxima without biases, shape (words, filters of all convolutions), from characters of shape
    (words, slots, channels). Windows that share the maximum share its gradient.
    """
    channels_first = characters.transpose(1, 2)
    maxima = [nn.functional.conv1d(channels_first, conv.weight).amax(dim=2) for conv in convolutions]
    return torch.cat(maxima, dim=1).to(characters.dtype)


def filter_matrix(convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """
    Returns all filters, padded with zeros to the widest, as a matrix of shape (width * channels, filters).
    """
    widest = max(conv.kernel_size[0] for conv in convolutions)
    padded = [nn.functional.pad(conv.weight, (0, widest - conv.kernel_size[0])) for conv in convolutions]
    return torch.cat(padded).transpose(1, 2).flatten(1).t()


def conv_max_pool(characters: Tensor, filters: Tensor) -> Tensor:
    """
    Computes `convolution_maxima` as one product with the filters of `filter_matrix`; under autocast, in its
    type. Narrower filters see the windows of the widest only, so `width` slots of padding must follow the
    characters.
    """
    return _WindowMaxima.apply(characters, filters, torch.is_grad_enabled())


class _WindowMaxima(Function):
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
