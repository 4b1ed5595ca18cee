"""The character CNN for training: the greatest value of each filter over all windows of a word."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from elmo_plugin.bilm.gradients import first_derivative_only
from elmo_plugin.bilm.precision import autocast_dtype


def convolution_maxima(characters: Tensor, convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """
    Computes the maxima of all convolutions, without their biases.

    # Parameters

    characters : `Tensor`
        Shape (words, slots, channels).
    convolutions : `Sequence[nn.Conv1d]`
        Of `channels` input channels.

    # Returns

    `Tensor`
        Shape (words, filters of all convolutions), of the type of `characters`. Where several windows have
        the greatest value, they share its gradient.
    """
    channels_first = characters.transpose(1, 2)
    maxima = [nn.functional.conv1d(channels_first, conv.weight).amax(dim=2) for conv in convolutions]
    return torch.cat(maxima, dim=1).to(characters.dtype)


def filter_matrix(convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """All filters as one matrix, filled up with zeros to the widest: shape (width * channels, filters)."""
    widest = max(conv.kernel_size[0] for conv in convolutions)
    padded = [nn.functional.pad(conv.weight, (0, widest - conv.kernel_size[0])) for conv in convolutions]
    return torch.cat(padded).transpose(1, 2).flatten(1).t()


def conv_max_pool(characters: Tensor, filters: Tensor) -> Tensor:
    """
    Computes `convolution_maxima` as one product for all filters; under autocast, in its type. Narrower
    filters see the windows of the widest only, so `width` slots of padding must follow the characters.

    # Parameters

    characters : `Tensor`
        Shape (words, slots, channels).
    filters : `Tensor`
        Shape (width * channels, filters), of `filter_matrix`.
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
            # In place, and not as truth values: on a CPU that is several times as fast.
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
