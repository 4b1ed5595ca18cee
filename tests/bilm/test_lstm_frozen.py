from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.bilm import PRECISIONS, LstmOptions, lstm_frozen
from elmo_plugin.bilm.lstm_cell import LstmLayer
from elmo_plugin.bilm.lstm_frozen import BatchedRecurrence, PackedLayers, SeparateRecurrence
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.common.process import torch_threads
from tests.bilm.paths import ComputePath, skip_if_not_here

INPUT_DIM, DIM, PROJECTION_DIM = 6, 7, 5
LENGTHS = [6, 6, 4, 3, 1, 1, 0]  # of the rows, in packed order


def _layers(cell_clip: float | None, proj_clip: float | None) -> list[LstmLayer]:
    torch.manual_seed(1)
    options = LstmOptions(
        dim=DIM, projection_dim=PROJECTION_DIM, cell_clip=cell_clip, proj_clip=proj_clip
    )
    layers = [LstmLayer(INPUT_DIM, options) for _ in range(2)]
    for layer in layers:
        for parameter in layer.parameters():
            nn.init.normal_(parameter, std=0.7)
    return layers


def _random_inputs(lengths: Sequence[int]) -> tuple[list[Tensor], list[int], LstmState]:
    torch.manual_seed(2)
    batch_sizes = [sum(time < length for length in lengths) for time in range(max(lengths))]
    inputs = [torch.randn(sum(lengths), INPUT_DIM) for _ in range(2)]
    rows = len(lengths)
    return (
        inputs,
        batch_sizes,
        LstmState(torch.randn(2, rows, PROJECTION_DIM), torch.randn(2, rows, DIM)),
    )


def test_bfloat16_keeps_its_cells_in_float32() -> None:
    skip_if_not_here(ComputePath("batched_directions", "bfloat16", "cpu", 0.0))
    packed = BatchedRecurrence().pack(_layers(3.0, 3.0), PRECISIONS["bfloat16"])
    _, end = BatchedRecurrence().run(packed, *_random_inputs(LENGTHS), True)
    assert not torch.equal(end.cell, end.cell.bfloat16().float())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_states_inputs_and_weights_are_not_modified(precision: str) -> None:
    skip_if_not_here(ComputePath("batched_directions", precision, "cpu", 0.0))
    layers = _layers(0.5, 0.4)
    inputs, batch_sizes, state = _random_inputs(LENGTHS)
    weights = [parameter for layer in layers for parameter in layer.parameters()]
    given = [*inputs, *state, *weights]
    copies = [tensor.clone() for tensor in given]
    packed = BatchedRecurrence().pack(layers, PRECISIONS[precision])
    first, _ = BatchedRecurrence().run(packed, inputs, batch_sizes, state, True)
    second, _ = BatchedRecurrence().run(packed, inputs, batch_sizes, state, False)
    assert all(map(torch.equal, first, second)), "the packed weights stay as they were"
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(given, copies, strict=True))


@pytest.mark.cuda
def test_on_a_gpu_time_steps_do_not_synchronize() -> None:
    packed = BatchedRecurrence().pack(
        [layer.cuda() for layer in _layers(0.5, 0.4)], PRECISIONS["float32"]
    )
    inputs, batch_sizes, state = _random_inputs(LENGTHS)
    inputs, state = [tensor.cuda() for tensor in inputs], LstmState(*map(Tensor.cuda, state))
    torch.cuda.set_sync_debug_mode("error")
    try:
        BatchedRecurrence().run(packed, inputs, batch_sizes, state, True)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_many_time_steps_are_run_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm_frozen, "MANY_STEPS", 5)
    packed: list[PackedLayers] = BatchedRecurrence().pack(
        _layers(None, None), PRECISIONS["float32"]
    )
    used: list[int] = []

    def recurrent_linear(*args: Any) -> Tensor:
        used.append(torch.get_num_threads())
        return packed[0].recurrent_linear(*args)

    recorded = [packed[0]._replace(recurrent_linear=recurrent_linear)]
    with torch_threads(2):
        for length in (5, 6):
            BatchedRecurrence().run(recorded, *_random_inputs([length, 1]), False)
        assert torch.get_num_threads() == 2
    assert used == [2] * 5 + [1] * 6


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("inference_mode", [False, True])
def test_directions_side_by_side_compute_the_same_bits(
    precision: str, inference_mode: bool
) -> None:
    skip_if_not_here(ComputePath("separate_directions", precision, "cpu", 0.0))
    packed = SeparateRecurrence().pack(_layers(0.5, 0.4), PRECISIONS[precision])
    inputs, batch_sizes, state = _random_inputs(LENGTHS)
    results = []
    for threads in (1, 2, 3, 4):
        with torch_threads(threads), torch.inference_mode(inference_mode), torch.autocast("cpu"):
            outputs, final = SeparateRecurrence().run(packed, inputs, batch_sizes, state, True)
        results.append([*outputs, *final])
    for result in results[1:]:
        assert all(map(torch.equal, result, results[0]))


@pytest.mark.parametrize(("threads", "expected"), [(1, 1), (2, 1), (3, 3), (6, 3)])
def test_each_direction_has_half_of_the_threads_if_they_can_be_halved(
    threads: int, expected: int
) -> None:
    packed = SeparateRecurrence().pack(_layers(None, None), PRECISIONS["float32"])
    used: list[int] = []

    def projection(*args: Any) -> Tensor:
        used.append(torch.get_num_threads())
        return packed[0].projection(*args)

    recorded = [layers._replace(projection=projection) for layers in packed]
    with torch_threads(threads):
        SeparateRecurrence().run(recorded, *_random_inputs([1]), False)
        assert torch.get_num_threads() == threads
    assert used == [expected, expected]
