"""Our gradients of LSTMs and GRUs against torch's, and against finite differences."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_plugin.encoders.bidirectional import read_both_ways, read_by_torch
from tests.conftest import at_most

every_kind = pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
INPUT_SIZE, HIDDEN_SIZE = 5, 4


def mask_of(lengths: list[int], time: int) -> Tensor:
    return torch.arange(time) < torch.tensor(lengths)[:, None]


def layer_of(kind: type[nn.RNNBase], dtype: torch.dtype = torch.float64) -> nn.RNNBase:
    torch.manual_seed(0)
    return kind(INPUT_SIZE, HIDDEN_SIZE, bidirectional=True, batch_first=True).to(dtype)


def gradients(layer: nn.RNNBase, inputs: Tensor, outputs: Tensor) -> list[Tensor]:
    """Returns those of a loss that differs in all outputs, the inputs' first."""
    loss = (
        outputs * torch.linspace(-1, 2, outputs.numel(), dtype=outputs.dtype).view_as(outputs)
    ).sum()
    return list(torch.autograd.grad(loss, [inputs, *layer.parameters()]))


@every_kind
@at_most(20)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any),
    extra_time=st.integers(0, 2),
)
def test_vectors_and_gradients_equal_torchs(
    kind: type[nn.RNNBase], lengths: list[int], extra_time: int
) -> None:
    layer, mask = layer_of(kind), mask_of(lengths, max(lengths) + extra_time)
    inputs = torch.randn(*mask.shape, INPUT_SIZE, dtype=torch.float64, requires_grad=True)
    ours, theirs = read_both_ways(layer, inputs, mask), read_by_torch(layer, inputs, mask)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    found, expected = gradients(layer, inputs, ours), gradients(layer, inputs, theirs)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("lengths", [[3, 1, 0, 5, 3], [4, 4], [1]])
@pytest.mark.parametrize("grad_mode", [torch.enable_grad, torch.no_grad])
def test_recurrent_dropout_equals_torch_cells_with_one_mask_for_all_steps(
    grad_mode: Callable[[], AbstractContextManager[None]],
    lengths: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """
    A mask has a row for each sentence with words, the longest first; equal lengths have equal ones.
    """
    torch.manual_seed(1)
    words = sorted(filter(None, lengths), reverse=True)
    of_length = 2.0 * torch.randint(2, (2, max(words) + 1, HIDDEN_SIZE)).double()
    monkeypatch.setattr(nn.functional, "dropout", lambda ones, rate: of_length[:, words])
    layer, mask = layer_of(nn.LSTM), mask_of(lengths, max(lengths))
    inputs = torch.randn(*mask.shape, INPUT_SIZE, dtype=torch.float64, requires_grad=True)
    expected = torch.zeros(*mask.shape, 2 * HIDDEN_SIZE, dtype=torch.float64)
    cells = []
    for direction, suffix in enumerate(["", "_reverse"]):
        cells.append(nn.LSTMCell(INPUT_SIZE, HIDDEN_SIZE).double())
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        cells[-1].load_state_dict({name: getattr(layer, f"{name}_l0{suffix}") for name in names})
        for row, length in enumerate(lengths):
            hidden, memory = torch.zeros(2, HIDDEN_SIZE).double()
            for time in reversed(range(length)) if suffix else range(length):
                dropped = hidden * of_length[direction, length]
                hidden, memory = cells[-1](inputs[row, time], (dropped, memory))
                expected[row, time, direction * HIDDEN_SIZE : (direction + 1) * HIDDEN_SIZE] = (
                    hidden
                )
    with grad_mode():
        found = read_both_ways(layer, inputs, mask, recurrent_dropout=0.5)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    if found.requires_grad:
        of_cells = torch.autograd.grad(
            expected.square().sum(),
            [inputs, *(value for cell in cells for value in cell.parameters())],
        )
        of_layer = torch.autograd.grad(found.square().sum(), [inputs, *layer.parameters()])
        torch.testing.assert_close(of_layer, of_cells, rtol=1e-10, atol=1e-10)


@every_kind
@pytest.mark.parametrize("lengths", [[0, 0], [0]])
def test_a_batch_without_words_gives_zeros(kind: type[nn.RNNBase], lengths: list[int]) -> None:
    inputs = torch.randn(len(lengths), 3, INPUT_SIZE)
    layer, mask = layer_of(kind, torch.float32), mask_of(lengths, 3)
    outputs = read_both_ways(layer, inputs, mask)
    assert outputs.shape == (len(lengths), 3, 2 * HIDDEN_SIZE)
    assert not outputs.any() and not read_by_torch(layer, inputs, mask).any()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@every_kind
def test_autocast_rounds_only_products(kind: type[nn.RNNBase], dropout: float) -> None:
    if dropout and kind is nn.GRU:
        return  # has no recurrent dropout
    layer, mask, inputs = (
        layer_of(kind, torch.float32),
        mask_of([2, 7], 7),
        torch.randn(2, 7, INPUT_SIZE),
    )
    found = []
    for enabled in (False, True):
        layer.zero_grad()
        torch.manual_seed(1)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            outputs = read_both_ways(layer, inputs, mask, dropout)
        outputs.square().sum().backward()
        assert outputs.dtype == torch.float32
        found.append([outputs, *(parameter.grad for parameter in layer.parameters())])
    for exact, rounded in zip(*found, strict=True):
        torch.testing.assert_close(rounded, exact, rtol=0.03, atol=0.03 * exact.abs().max().item())
    assert not torch.equal(found[0][0], found[1][0]), "no product was rounded"
