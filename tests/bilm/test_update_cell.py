import math

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm.lstm_frozen import update_cell_
from tests.close import assert_near


def _by_the_book(gates: Tensor, cell: Tensor, cell_clip: float | None) -> tuple[Tensor, Tensor]:
    """The new cell and the activated output, in float64; the gate j comes doubled."""
    i, j, f, o = gates.double().chunk(4, dim=-1)
    cell = torch.sigmoid(f) * cell.double() + torch.sigmoid(i) * torch.tanh(j / 2)
    cell = cell.clamp(-(cell_clip or math.inf), cell_clip or math.inf)
    return cell, torch.sigmoid(o) * torch.tanh(cell)


def _update(gates: Tensor, cell: Tensor, cell_clip: float | None) -> Tensor:
    return update_cell_(gates.sigmoid().chunk(4, dim=-1), cell, cell_clip, torch.empty_like(cell))


def _gates_and_cell(*shape: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    *rows, dim = shape
    return 3 * torch.randn(*rows, 4 * dim), 2 * torch.randn(*rows, dim)


@pytest.mark.parametrize("cell_clip", [None, 0.5, 100.0])
@pytest.mark.parametrize("shape", [(5, 7), (2, 5, 7), (1, 3, 64), (2, 0, 7)])
def test_float32_follows_the_formulas(shape: tuple[int, ...], cell_clip: float | None) -> None:
    gates, cell = _gates_and_cell(*shape)
    expected_cell, expected = _by_the_book(gates, cell, cell_clip)
    activated = _update(gates, cell, cell_clip)
    assert activated.shape == shape and activated.dtype == torch.float
    assert_near(cell, expected_cell)
    assert_near(activated, expected)
    if cell_clip == 0.5 and cell.numel():
        assert (cell.abs() == 0.5).any(), "the test never reached the clip"


def test_float64_stays_float64() -> None:
    gates, cell = (tensor.double() for tensor in _gates_and_cell(2, 5, 7))
    expected_cell, expected = _by_the_book(gates, cell, 0.5)
    activated = _update(gates, cell, 0.5)
    torch.testing.assert_close(cell, expected_cell)
    torch.testing.assert_close(activated, expected)


def test_the_first_rows_of_a_larger_cell_are_updated_and_no_others() -> None:
    gates, larger = _gates_and_cell(2, 5, 7)
    before = larger.clone()
    expected_cell, _ = _by_the_book(gates[:, :3], larger[:, :3], None)
    _update(gates[:, :3], larger[:, :3], None)
    assert_near(larger[:, :3], expected_cell)
    assert torch.equal(larger[:, 3:], before[:, 3:])


@pytest.mark.parametrize("extreme", [-1e4, 1e4])
def test_saturated_gates_give_finite_numbers(extreme: float) -> None:
    gates, cell = torch.full((1, 8), extreme), torch.full((1, 2), 3.0)
    expected_cell, expected = _by_the_book(gates, cell, None)
    activated = _update(gates, cell, None)
    torch.testing.assert_close(cell.double(), expected_cell)
    torch.testing.assert_close(activated.double(), expected)
