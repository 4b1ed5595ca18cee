"""What every recurrence does, whatever its speed."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elmo_plugin.bilm import PRECISIONS, BiLmError, LstmOptions
from elmo_plugin.bilm.lstm import (
    RECURRENCES,
    DirectionalLstm,
    ForwardSettings,
    lstm_layers,
    zero_state,
)
from elmo_plugin.bilm.lstm_state import LstmState
from tests.bilm.direction import run_direction
from tests.conftest import at_most

NAMES = list(RECURRENCES)
every_recurrence = pytest.mark.parametrize("name", NAMES)


def _options(**changes) -> LstmOptions:
    return LstmOptions(**{"projection_dim": 4, "dim": 7, "n_layers": 2, **changes})


def _lm(options: LstmOptions, seed: int = 1) -> DirectionalLstm:
    torch.manual_seed(seed)
    lm = DirectionalLstm(options).double()
    for parameter in lm.parameters():
        nn.init.normal_(parameter)
    return lm.requires_grad_(False)


def _state(sentences: int, options: LstmOptions) -> LstmState:
    return LstmState(
        torch.randn(options.n_layers, sentences, options.projection_dim).double(),
        torch.randn(options.n_layers, sentences, options.dim).double(),
    )


@every_recurrence
@pytest.mark.parametrize("skip", [True, False])
def test_skip_connections_change_a_layers_output_and_not_its_state(name: str, skip: bool) -> None:
    lm = _lm(_options(use_skip_connections=skip))
    inputs = torch.randn(10, 4, dtype=torch.double)
    outputs, state = run_direction(lm, inputs, [2] * 5, recurrence=name)
    alone = _lm(_options(n_layers=1))
    alone.layers[0].load_state_dict(lm.layers[0].state_dict())
    (first,), _ = run_direction(alone, inputs, [2] * 5)
    alone.layers[0].load_state_dict(lm.layers[1].state_dict())
    (second,), end = run_direction(alone, first, [2] * 5)
    torch.testing.assert_close(outputs[0], first)
    torch.testing.assert_close(outputs[1], second + first if skip else second)
    torch.testing.assert_close(state.hidden[1], second[-2:])
    torch.testing.assert_close(state.cell[1:], end.cell)


@at_most(25)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5).map(
        lambda some: sorted(some)[::-1]
    ),
    name=st.sampled_from(NAMES[1:]),
    ended=st.integers(0, 2),
    directions=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_all_recurrences_equal_the_reference(
    lengths: list[int], name: str, ended: int, directions: int, seed: int
) -> None:
    """`ended` sentences have a state, but no token."""
    options = _options(cell_clip=0.8, proj_clip=1.0)
    lms = [_lm(options, seed + k) for k in range(directions)]
    batch_sizes = [sum(length > time for length in lengths) for time in range(lengths[0])]
    inputs = [torch.randn(sum(lengths), 4).double() for _ in lms]
    states = [_state(len(lengths) + ended, options) for _ in lms]
    state = LstmState(
        torch.stack([each.hidden for each in states], dim=1),
        torch.stack([each.cell for each in states], dim=1),
    )
    before = LstmState(state.hidden.clone(), state.cell.clone())
    with torch.no_grad():
        expected = lstm_layers(
            lms,
            inputs,
            batch_sizes,
            state,
            ForwardSettings(recurrence="reference", keep_state=True),
        )
        actual = lstm_layers(
            lms, inputs, batch_sizes, state, ForwardSettings(recurrence=name, keep_state=True)
        )
        without_state = lstm_layers(
            lms, inputs, batch_sizes, state, ForwardSettings(recurrence=name)
        )
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(without_state, (expected[0], None))
    torch.testing.assert_close(state, before)  # the given state stays as it was


def test_gradients_in_reduced_precision_are_refused() -> None:
    lm = _lm(_options()).requires_grad_(True)
    with pytest.raises(BiLmError, match="float32, not in bfloat16"):
        inputs = torch.zeros(1, 4).double()
        state = zero_state(lm.options, inputs, 1, directions=1)
        lstm_layers([lm], [inputs], [1], state, ForwardSettings(PRECISIONS["bfloat16"]))
