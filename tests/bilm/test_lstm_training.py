"""The gradients of the recurrence for training."""

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import LstmOptions
from elmo_plugin.bilm import lstm_training as training
from elmo_plugin.bilm.lstm import DirectionalLstm, ForwardSettings, lstm_layers, zero_state
from elmo_plugin.bilm.lstm_state import LstmState
from tests.bilm.direction import run_direction
from tests.bilm.rounding import check_under_autocast

BATCH_SIZES = [3, 3, 2, 1]


def _lm(cell_clip: float | None, proj_clip: float | None, dim: int = 3) -> DirectionalLstm:
    torch.manual_seed(1)
    options = LstmOptions(
        projection_dim=2, dim=dim, n_layers=2, cell_clip=cell_clip, proj_clip=proj_clip
    )
    lm = DirectionalLstm(options).double()
    for parameter in lm.parameters():
        nn.init.normal_(parameter)
    return lm


def _leaves(lm: DirectionalLstm) -> list[Tensor]:
    """Inputs, hidden state, cell: four sentences, of which the last has no token."""
    torch.manual_seed(2)
    options = lm.options
    shapes = [(sum(BATCH_SIZES), 2), (2, 4, 2), (2, 4, options.dim)]
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


def _everything(
    lm: DirectionalLstm, name: str, inputs: Tensor, hidden: Tensor, cell: Tensor
) -> Tensor:
    outputs, end = run_direction(lm, inputs, BATCH_SIZES, LstmState(hidden, cell), name)
    return torch.cat([part.flatten() for part in (*outputs, *end)])


CLIPS = [(None, None), (0.5, 0.4), (0.5, None), (None, 0.4)]


@pytest.mark.parametrize(("cell_clip", "proj_clip"), CLIPS)
@pytest.mark.parametrize("name", ["reference", "training"])
def test_gradients_equal_finite_differences_even_where_values_are_clipped(
    name: str, cell_clip: float | None, proj_clip: float | None
) -> None:
    lm = _lm(cell_clip, proj_clip)
    leaves = _leaves(lm)
    if proj_clip:
        outputs, _ = run_direction(lm, leaves[0], BATCH_SIZES, LstmState(*leaves[1:]))
        assert (outputs[0].abs() == proj_clip).any(), "the test never reached the clip"
    parameters = list(lm.parameters())

    def function(inputs: Tensor, hidden: Tensor, cell: Tensor, *_: Tensor) -> Tensor:
        return _everything(lm, name, inputs, hidden, cell)

    assert torch.autograd.gradcheck(function, (*leaves, *parameters), fast_mode=True)


def _of_two_directions(name: str, lms: list[DirectionalLstm], leaves: list[Tensor]) -> Tensor:
    """Everything, for inputs, hidden state and cell of the one and of the other."""
    states = [LstmState(*leaves[1:3]), LstmState(*leaves[4:6])]
    state = LstmState(
        torch.stack([each.hidden for each in states], dim=1),
        torch.stack([each.cell for each in states], dim=1),
    )
    layers, end = lstm_layers(
        lms,
        [leaves[0], leaves[3]],
        BATCH_SIZES,
        state,
        ForwardSettings(recurrence=name, keep_state=True),
    )
    assert end is not None
    return torch.cat(
        [part.flatten() for part in (*(rows for outputs in layers for rows in outputs), *end)]
    )


def _two_directions(
    cell_clip: float | None, proj_clip: float | None, dim: int
) -> list[DirectionalLstm]:
    lms = [_lm(cell_clip, proj_clip, dim) for _ in range(2)]
    for parameter in lms[1].parameters():
        nn.init.normal_(parameter)
    return lms


@pytest.mark.parametrize(("cell_clip", "proj_clip"), CLIPS)
@pytest.mark.parametrize("as_one_batch", [True, False])
def test_gradients_of_both_directions_equal_the_reference_in_float64(
    monkeypatch: pytest.MonkeyPatch,
    cell_clip: float | None,
    proj_clip: float | None,
    as_one_batch: bool,
) -> None:
    """As one batch, they are run as on a GPU, and small ones on a CPU with AVX2 but not AVX-512."""
    monkeypatch.setattr(training, "_is_one_batch_faster", lambda *_: as_one_batch)
    lms = _two_directions(cell_clip, proj_clip, dim=20)
    leaves = [*_leaves(lms[0]), *(leaf.detach().neg().requires_grad_() for leaf in _leaves(lms[1]))]
    results = {}
    for name in ("reference", "training"):
        everything = _of_two_directions(name, lms, leaves)
        parameters = [parameter for lm in lms for parameter in lm.parameters()]
        gradients = torch.autograd.grad(everything.square().sum(), [*leaves, *parameters])
        results[name] = (everything, *gradients)
    torch.testing.assert_close(results["training"], results["reference"], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("as_one_batch", [True, False])
def test_outputs_and_gradients_under_autocast_are_close_to_float32(
    monkeypatch: pytest.MonkeyPatch, as_one_batch: bool
) -> None:
    monkeypatch.setattr(training, "_is_one_batch_faster", lambda *_: as_one_batch)
    torch.manual_seed(1)
    options = LstmOptions(projection_dim=24, dim=40, n_layers=2, cell_clip=3.0, proj_clip=3.0)
    lms = [DirectionalLstm(options), DirectionalLstm(options)]
    inputs = [torch.randn(8 * 10, 24, requires_grad=True) for _ in lms]
    leaves = [*inputs, *(parameter for lm in lms for parameter in lm.parameters())]

    def compute() -> tuple[Tensor, ...]:
        state = zero_state(options, inputs[0], 8)
        (_, outputs), end = lstm_layers(
            lms, inputs, [8] * 10, state, ForwardSettings(recurrence="training", keep_state=True)
        )
        assert end is not None
        loss = sum(output.square().sum() for output in outputs)
        return *outputs, *end, *torch.autograd.grad(loss, leaves)

    check_under_autocast(compute, torch.bfloat16, 0.03)
