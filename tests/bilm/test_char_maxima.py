"""The maxima against convolutions and autograd."""

from collections.abc import Sequence

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.bilm.token_encoder import WindowMaxima, convolution_maxima, filter_matrix

CHANNELS = 3


def conv_max_pool(characters: Tensor, filters: Tensor) -> Tensor:
    return WindowMaxima.apply(characters, filters, torch.is_grad_enabled())


def _convolutions(widths: Sequence[int]) -> list[nn.Conv1d]:
    torch.manual_seed(1)
    return [nn.Conv1d(CHANNELS, 2 + number, width).double() for number, width in enumerate(widths)]


def _leaves() -> tuple[Tensor, Tensor]:
    """Characters of words, and the vector of padding, which is not zero."""
    torch.manual_seed(2)
    shapes = [(4, 20, CHANNELS), (CHANNELS,)]
    characters, padding = (torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes)
    return characters, padding


def _words(characters: Tensor, padding: Tensor, lengths: Sequence[int], slots: int) -> Tensor:
    """The characters of words of these lengths, and padding after them."""
    is_padding = torch.arange(slots) >= torch.tensor(lengths)[:, None]
    return torch.where(is_padding[..., None], padding, characters[: len(lengths), :slots])


def _by_the_book(characters: Tensor, convolutions: Sequence[nn.Conv1d]) -> Tensor:
    """Window after window, without bias."""
    features = []
    for convolution in convolutions:
        width = convolution.kernel_size[0]
        windows = characters.unfold(1, width, 1)  # Shape: (words, windows, channels, width)
        features.append(torch.einsum("nock,fck->nof", windows, convolution.weight).amax(dim=1))
    return torch.cat(features, dim=1)


def _gradients(maxima: Tensor, leaves: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(
        (maxima * torch.arange(1, maxima.size(1) + 1)).sum(), leaves, retain_graph=True
    )


@settings(max_examples=25)
@given(
    widths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    further_padding=st.integers(0, 3),
)
def test_maxima_and_gradients_are_those_of_the_convolutions(
    widths: list[int], lengths: list[int], further_padding: int
) -> None:
    """Windows of nothing but padding are all the same, so it does not matter how many there are."""
    convolutions, (characters, padding) = _convolutions(widths), _leaves()
    leaves = [characters, padding, *(convolution.weight for convolution in convolutions)]
    slots = max(lengths) + max(widths)
    shorter, longer = (
        _words(characters, padding, lengths, size) for size in (slots, slots + further_padding)
    )
    expected = _by_the_book(longer, convolutions)
    expected_gradients = _gradients(expected, leaves)
    for maxima in (
        conv_max_pool(shorter, filter_matrix(convolutions)),
        conv_max_pool(longer, filter_matrix(convolutions)),
        convolution_maxima(shorter, convolutions),
    ):
        torch.testing.assert_close(maxima, expected)
        torch.testing.assert_close(_gradients(maxima, leaves), expected_gradients)


def test_windows_with_the_greatest_value_share_its_gradient() -> None:
    characters = torch.tensor([[[1.0], [5.0], [5.0], [2.0], [5.0]]], requires_grad=True)
    filters = torch.tensor([[3.0]], requires_grad=True)
    conv_max_pool(characters, filters).sum().backward()
    torch.testing.assert_close(characters.grad, torch.tensor([[[0.0], [1.0], [1.0], [0.0], [1.0]]]))
    torch.testing.assert_close(filters.grad, torch.tensor([[5.0]]))


def test_without_gradients_the_maxima_are_the_same() -> None:
    filters, (characters, _) = filter_matrix(_convolutions([1, 3])), _leaves()
    with torch.no_grad():
        maxima = conv_max_pool(characters, filters)
    assert not maxima.requires_grad
    assert torch.equal(maxima, conv_max_pool(characters, filters))
