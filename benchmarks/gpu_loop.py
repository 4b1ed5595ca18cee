"""
Trials of the LSTMs' loop over time, for one shape of a batch: as the package runs it, as a wavefront of both
layers, each also as a captured CUDA graph, and compiled. None of these is in the package.
"""

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from arithmetic import lstm_operations
from cards import peaks, products, shares, take_turns
from material import options_of
from torch import Tensor
from wavefront import Wavefront

from elmo_plugin.bilm import BiLm, get_precision
from elmo_plugin.bilm.inference_weights import InferenceWeights
from elmo_plugin.bilm.lstm import run_layers

Work = Callable[[], list[Tensor]]
STEPS = 20


def measure(device: str, small: bool) -> Iterator[dict[str, Any]]:
    size = "tiny" if small else "original"
    torch.manual_seed(0)
    bilm = BiLm(options_of(size)).eval().to(device)
    for rows in (2,) if small else (1, 64, 256):
        for kind in ("tf32", "bfloat16") if device == "cuda" else ("float32",):
            inputs = torch.randn(2, STEPS, rows, bilm.options.lstm.projection_dim, device=device)
            common = {"size": size, "rows": rows, "steps": STEPS, "products": kind}
            with products(kind) as precision:
                yield from compare(bilm, inputs, precision, device, common, peaks(kind, device))


def compare(
    bilm: BiLm, inputs: Tensor, precision: str, device: str, common: dict[str, Any], peak: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """A row of figures for each trial; one that fails says why."""
    operations = inputs.size(1) * inputs.size(2) * lstm_operations(bilm.options.lstm)
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float
    eager = partial(as_in_the_package, bilm, inputs, precision, InferenceWeights([]))
    wavefront = Wavefront((bilm.forward_lm, bilm.backward_lm), dtype)
    wave = partial(wavefront, inputs)
    train = partial(gradients, bilm, inputs, precision)
    inductor = {"backend": "inductor"} if device == "cuda" else {"backend": "eager"}
    # What each is compared with, and how it is made.
    trials: dict[str, tuple[Work, Callable[[], Work]]] = {
        "package": (eager, lambda: eager),
        "package, graph": (eager, lambda: captured(eager, device)),
        "wavefront": (eager, lambda: wave),
        "wavefront, graph": (eager, lambda: captured(wave, device)),
        "training": (train, lambda: train),
        "training, graph": (train, lambda: captured(train, device)),
        "wavefront, compiled": (eager, lambda: partial(torch.compile(wavefront, **inductor), inputs)),
    }
    for name, (right, make) in trials.items():
        row = {"trial": name, **common}
        try:
            work = make()
            pairs = zip(work(), right(), strict=True)
            row["max_difference"] = max((one - other).abs().max().item() for one, other in pairs)
            (times,) = take_turns({"": work}, 5, device).values()
        except Exception as error:  # a trial may fail; the others continue
            yield row | {"failed": f"{type(error).__name__}: {error}"[:500]}
            continue
        taken = statistics.median(times)
        rate = operations * (3 if name.startswith("training") else 1) / taken
        tokens = inputs.size(1) * inputs.size(2)
        yield row | {"milliseconds": 1e3 * taken, "tokens_per_second": tokens / taken} | shares(rate, peak)


@torch.no_grad()
def as_in_the_package(bilm: BiLm, inputs: Tensor, precision: str, weights: InferenceWeights) -> list[Tensor]:
    """The outputs of both layers, in both directions."""
    return [output for layer in _run(bilm, inputs, precision, weights) for output in layer]


def gradients(bilm: BiLm, inputs: Tensor, precision: str) -> list[Tensor]:
    """Those of all weights of the LSTMs."""
    weights = [*bilm.forward_lm.parameters(), *bilm.backward_lm.parameters()]
    is_autocast = precision == "bfloat16"
    with torch.autocast(inputs.device.type, torch.bfloat16, enabled=is_autocast, cache_enabled=False):
        outputs = _run(bilm, inputs, "float32", None)[-1]
    return list(torch.autograd.grad(sum(output.sum() for output in outputs), weights))


def _run(bilm: BiLm, inputs: Tensor, precision: str, weights: InferenceWeights | None) -> list[list[Tensor]]:
    _, steps, rows, _ = inputs.shape
    layers = run_layers(
        (bilm.forward_lm, bilm.backward_lm),
        inputs.flatten(1, 2).unbind(),
        [rows] * steps,
        bilm.zero_state(rows),
        precision=get_precision(precision),
        weights=weights,
    )
    return [outputs for outputs, _ in layers]


def captured(work: Work, device: str) -> Work:
    """The same as one CUDA graph, which writes to the same memory each time; on a CPU the work itself."""
    if device == "cpu":
        return work
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = work()

    def replay() -> list[Tensor]:
        graph.replay()
        return outputs

    return replay
