from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import PRECISIONS, LstmOptions, lstm_frozen
from elmo_plugin.bilm.batching import LstmState, map_state
from elmo_plugin.bilm.lstm import RECURRENCES
from elmo_plugin.bilm.lstm_cell import LayerInput, LstmLayer
from elmo_plugin.common.process import torch_threads
from tests.bilm.paths import ComputePath, skip_if_not_here

INPUT_DIM, DIM, PROJECTION_DIM = 6, 7, 5
CLIPS = [(None, None), (0.5, 0.4), (100.0, 100.0)]
BATCHED, SEQUENTIAL = RECURRENCES["batched_directions"], RECURRENCES["sequential"]
LENGTHS = [6, 6, 4, 3, 1, 1, 0]  # of the rows, in packed order


def _layers(directions: int, cell_clip: float | None, proj_clip: float | None) -> list[LstmLayer]:
    torch.manual_seed(1)
    options = LstmOptions(dim=DIM, projection_dim=PROJECTION_DIM, cell_clip=cell_clip, proj_clip=proj_clip)
    layers = [LstmLayer(INPUT_DIM, options) for _ in range(directions)]
    for layer in layers:
        for parameter in layer.parameters():
            nn.init.normal_(parameter, std=0.7)
    return layers


def _random_inputs(directions: int, lengths: Sequence[int]) -> tuple[list[Tensor], list[int], LstmState]:
    torch.manual_seed(2)
    batch_sizes = [sum(time < length for length in lengths) for time in range(max(lengths))]
    inputs = [torch.randn(sum(lengths), INPUT_DIM) for _ in range(directions)]
    return inputs, batch_sizes, _random_state(directions, len(lengths))


def _random_state(directions: int, rows: int) -> LstmState:
    return LstmState(torch.randn(directions, rows, PROJECTION_DIM), torch.randn(directions, rows, DIM))


def _run(
    layers: Sequence[LstmLayer],
    inputs: Sequence[Tensor],
    batch_sizes: Sequence[int],
    state: LstmState,
    precision: str = "float32",
) -> tuple[list[Tensor], LstmState]:
    return BATCHED.run(
        BATCHED.pack(layers, PRECISIONS[precision]), LayerInput(inputs, batch_sizes, state, True)
    )


def test_bfloat16_stays_near_and_keeps_its_cells_in_float32() -> None:
    skip_if_not_here(ComputePath("batched_directions", "bfloat16", "cpu", 0.0))
    layers = _layers(2, 3.0, 3.0)
    packed = BATCHED.pack(layers, PRECISIONS["bfloat16"])
    assert packed.dtype == torch.bfloat16
    _, end = BATCHED.run(packed, LayerInput(*_random_inputs(2, LENGTHS), True))
    assert not torch.equal(end.cell, end.cell.bfloat16().float())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_states_inputs_and_weights_are_left_as_they_are(precision: str) -> None:
    skip_if_not_here(ComputePath("batched_directions", precision, "cpu", 0.0))
    layers = _layers(2, 0.5, 0.4)
    inputs, batch_sizes, state = _random_inputs(2, LENGTHS)
    weights = [parameter for layer in layers for parameter in layer.parameters()]
    given = [*inputs, *state, *weights]
    copies = [tensor.clone() for tensor in given]
    packed = BATCHED.pack(layers, PRECISIONS[precision])
    first, _ = BATCHED.run(packed, LayerInput(inputs, batch_sizes, state, True))
    second, _ = BATCHED.run(packed, LayerInput(inputs, batch_sizes, state, False))
    assert all(map(torch.equal, first, second)), "the packed weights stay as they were"
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(given, copies, strict=True))


def test_autocast_and_inference_mode_change_nothing() -> None:
    packed = BATCHED.pack(_layers(2, 0.5, 0.4), PRECISIONS["float32"])
    arguments = *_random_inputs(2, LENGTHS), True
    expected, _ = BATCHED.run(packed, LayerInput(*arguments))
    with torch.autocast("cpu"), torch.inference_mode():
        outputs, _ = BATCHED.run(packed, LayerInput(*arguments))
    assert all(torch.equal(output, right) for output, right in zip(outputs, expected, strict=True))


@pytest.mark.cuda
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("bfloat16", 0.05)])
@pytest.mark.parametrize("directions", [1, 2])
def test_on_a_gpu_it_gives_what_it_gives_on_a_cpu(directions: int, precision: str, tolerance: float) -> None:
    inputs, batch_sizes, state = _random_inputs(directions, LENGTHS)
    layers = _layers(directions, 0.5, 0.4)
    expected, expected_end = _run(layers, inputs, batch_sizes, state, precision)
    outputs, end = _run(
        [layer.cuda() for layer in layers],
        [tensor.cuda() for tensor in inputs],
        batch_sizes,
        map_state(Tensor.cuda, state),
        precision,
    )
    for values, value in zip((*outputs, *end), (*expected, *expected_end), strict=True):
        assert values.is_cuda
        torch.testing.assert_close(values.cpu(), value, rtol=tolerance, atol=tolerance)


@pytest.mark.cuda
def test_on_a_gpu_no_time_step_waits_for_the_device() -> None:
    packed = BATCHED.pack([layer.cuda() for layer in _layers(2, 0.5, 0.4)], PRECISIONS["float32"])
    inputs, batch_sizes, state = _random_inputs(2, LENGTHS)
    inputs, state = [tensor.cuda() for tensor in inputs], map_state(Tensor.cuda, state)
    torch.cuda.set_sync_debug_mode("error")
    try:
        BATCHED.run(packed, LayerInput(inputs, batch_sizes, state, True))
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_many_time_steps_are_run_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm_frozen, "MANY_STEPS", 5)
    packed = BATCHED.pack(_layers(2, None, None), PRECISIONS["float32"])
    used: list[int] = []

    def recurrent_linear(*args: Any, **kwargs: Any) -> None:
        used.append(torch.get_num_threads())
        packed.recurrent_linear(*args, **kwargs)

    recorded = packed._replace(recurrent_linear=recurrent_linear)
    with torch_threads(2):
        for length in (5, 6):
            BATCHED.run(recorded, LayerInput(*_random_inputs(2, [length, 1]), False))
        assert torch.get_num_threads() == 2
    assert used == [2] * 5 + [1] * 6
