"""Convolutions over the characters of words, with gradients: words of similar length together."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.products import autocast_dtype

# Words of similar length are encoded together, this many at a time: on a CPU their windows stay in
# its cache.
WORDS_AT_A_TIME_ON_CPU = 64
WORDS_AT_A_TIME = 1024


def convolve_by_length(
    character_ids: Tensor, embed: Callable[[Tensor], Tensor], convolutions: Sequence[nn.Conv1d]
) -> tuple[Tensor, Tensor]:
    """
    Computes the maxima of all filters over each word, with the filters' biases and with gradients.
    `embed` turns ids, shape (words, slots), into the vectors of characters, shape (words, slots,
    channels).

    If more slots of padding follow each word than the widest filter covers, all filters are
    computed in one product. Otherwise it takes longer, with a convolution for each width.

    Returns the maxima of all convolutions, shape (words, filters), in another order than the words,
    and for each row of them the row of its word in `character_ids`, shape (words,).
    """
    widest_filter = max(convolution.kernel_size[0] for convolution in convolutions)
    matrix = _filters_as_matrix(convolutions, widest_filter)
    is_grad_enabled = torch.is_grad_enabled()

    def convolve(ids: Tensor) -> Tensor:
        """Returns the maxima of all filters over a few words."""
        characters = embed(ids)  # Shape: (words, slots, channels)
        # Slots are cut off only after as much padding as the widest filter covers.
        has_room_for_widest_filter = ids.size(1) < character_ids.size(1)
        if has_room_for_widest_filter:
            return WindowMaxima.apply(characters, matrix, is_grad_enabled)
        return _convolve_one_by_one(characters, convolutions)

    maxima, order = encode_by_length(character_ids, widest_filter, convolve)
    # A bias is the same for all windows, so it can be added to their maximum.
    biases = cast("list[Tensor]", [convolution.bias for convolution in convolutions])
    return maxima + torch.cat(biases), order


def encode_by_length(
    character_ids: Tensor, widest_filter: int, encode: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """
    Encodes words of similar length together, and cuts off slots that are padding in all of them. As
    many slots of padding as the widest filter covers are kept after the longest word. The next
    windows would see only padding, as the last one does, so they would change no maximum.

    `encode` is called with the int32 ids of some of the words, shape (words, slots), and returns
    their vectors, shape (words, dim).

    Returns the vectors of all words, in another order, and for each vector the row of its word in
    `character_ids`, shape (words,).
    """
    if character_ids.device.type == "cpu":
        words_at_a_time = WORDS_AT_A_TIME_ON_CPU
    else:
        words_at_a_time = WORDS_AT_A_TIME
    if len(character_ids) <= words_at_a_time:  # a single call, so the words need not be sorted
        longest = max(_lengths(character_ids).tolist(), default=0)
        slots = longest + widest_filter
        given_order = torch.arange(len(character_ids), device=character_ids.device)
        return encode(character_ids[:, :slots].int()), given_order
    lengths, order = _lengths(character_ids).sort()
    slots_of_words = (lengths + widest_filter).tolist()
    vectors = []
    for start in range(0, len(order), words_at_a_time):
        similar_words = order[start : start + words_at_a_time]
        longest_word = start + len(similar_words) - 1  # the last one, because they are sorted
        slots = slots_of_words[longest_word]
        vectors.append(encode(character_ids[similar_words, :slots].int()))
    return torch.cat(vectors), order


def _lengths(character_ids: Tensor) -> Tensor:
    """Returns the number of slots before each word's padding, shape (words,)."""
    # The id of padding depends on the model, so it is read from the last slot of the word. If the
    # word fills all slots, its last slot is the end of the word, and the length is one too small.
    # That does no harm, because `encode_by_length` keeps further slots.
    padding = character_ids[:, -1:]
    is_character = character_ids != padding
    slots = torch.arange(1, character_ids.size(1) + 1, device=character_ids.device)
    return (is_character * slots).amax(dim=1)


def _filters_as_matrix(convolutions: Sequence[nn.Conv1d], width: int) -> Tensor:
    """
    Returns the filters of all convolutions, shape (width * channels, filters), for one product with
    the windows. Narrower ones are made as wide as `width`, with weights of zero at the end.
    """
    padded = []
    for convolution in convolutions:
        missing = width - convolution.kernel_size[0]
        padded.append(F.pad(convolution.weight, (0, missing)))
    filters = torch.cat(padded)  # Shape: (filters, channels, width)
    return filters.transpose(1, 2).flatten(1).t()


def _convolve_one_by_one(characters: Tensor, convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """
    Returns the maxima of all filters, shape (words, filters), for vectors of characters, shape
    (words, slots, channels). Unlike in `WindowMaxima`, words need no padding after them. Windows
    that share the maximum share its gradient here as well.
    """
    channels_first = characters.transpose(1, 2)
    maxima = []
    for convolution in convolutions:
        values = F.conv1d(channels_first, convolution.weight)  # Shape: (words, filters, windows)
        maxima.append(values.amax(dim=2))
    return torch.cat(maxima, dim=1).to(characters.dtype)


class WindowMaxima(Function):
    """
    Computes the maxima of all filters over the windows of each word. It is one product of the
    windows with a matrix of the filters, in autocast's type if that is on.

    All filters are as wide as the widest one, with zeros at the end. So as much padding as the
    widest filter covers must follow the characters: otherwise the last windows of narrower filters
    are missing. `is_grad_enabled` says whether the caller needs gradients: within an
    autograd function they are always disabled.
    """

    @staticmethod
    def forward(ctx: Any, characters: Tensor, filters: Tensor, is_grad_enabled: bool) -> Tensor:
        """
        Returns the maxima, shape (words, filters). `characters` are the vectors of characters,
        shape (words, slots, channels), and `filters` have the shape (width * channels, filters).
        """
        dtype = autocast_dtype(characters)
        words, slots, channels = characters.shape
        width = len(filters) // channels
        num_windows = slots - width + 1
        sizes = (words, num_windows, width * channels)
        strides = (slots * channels, channels, 1)
        with torch.autocast(characters.device.type, enabled=False):
            # Windows overlap: each begins one character after the last, in the same memory.
            contiguous = characters.to(dtype).contiguous()
            windows = contiguous.as_strided(sizes, strides).flatten(0, 1)
            products = windows @ filters.to(dtype)
            values = products.unflatten(0, (words, num_windows))  # (words, windows, filters)
            maxima = values.amax(dim=1)
        if is_grad_enabled and any(ctx.needs_input_grad):
            # 1.0 for the windows that have the maximum, else 0.0. In place, and not as booleans: on
            # a CPU that is several times as fast.
            is_greatest = torch.eq(values, maxima[:, None], out=values)
            num_greatest = is_greatest.sum(dim=1)  # Shape: (words, filters)
            ctx.save_for_backward(windows, filters, is_greatest, num_greatest)
            ctx.shape = characters.shape
        return maxima.to(characters.dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_maxima: Tensor) -> tuple[Tensor | None, ...]:
        """
        Gives the gradient of each maximum to the windows that have it, and the gradient of each
        window to its characters.
        """
        windows, filters, is_greatest, num_greatest = ctx.saved_tensors
        # Windows that share the maximum share its gradient.
        d_maxima = d_maxima.to(windows.dtype) / num_greatest
        d_values = (is_greatest * d_maxima[:, None]).flatten(0, 1)  # (words * windows, filters)
        d_filters = (windows.t() @ d_values).to(filters.dtype)
        d_windows = (d_values @ filters.t().to(windows.dtype)).to(filters.dtype)
        words, _, channels = ctx.shape
        width = len(filters) // channels
        # Shape: (words, windows, width, channels)
        d_characters_of_windows = d_windows.view(words, -1, width, channels)
        d_characters = d_windows.new_zeros(ctx.shape)
        # A character is in as many windows as the filters are wide, each time at another offset.
        for offset, d_offset in enumerate(d_characters_of_windows.unbind(dim=2)):
            d_characters[:, offset : offset + d_offset.size(1)] += d_offset
        return d_characters, d_filters, None  # none for `is_grad_enabled`
