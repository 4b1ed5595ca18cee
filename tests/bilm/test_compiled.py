"""A biLM inside `torch.compile` computes as without; recording it with `torch.jit.trace` is an
error.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmError
from tests.bilm.conftest import BiLmMaker, ids_of

BATCHES = ["a play", "the other play"], ["new"], ["the new play"]


def compile_module(bilm: BiLm) -> Any:
    return torch.compile(bilm, backend="eager")


def compile_in_place(bilm: BiLm) -> Any:
    bilm.compile(backend="eager")
    return bilm


def compile_forward(bilm: BiLm) -> Any:
    bilm.forward = torch.compile(bilm.forward, backend="eager")  # type: ignore[method-assign]
    return bilm


def compile_surroundings(bilm: BiLm) -> Any:
    return torch.compile(lambda ids: bilm(ids * 1), backend="eager")


@pytest.mark.slow
@pytest.mark.parametrize("is_frozen", [True, False])
@pytest.mark.parametrize(
    "compiled", [compile_module, compile_in_place, compile_forward, compile_surroundings]
)
def test_a_compiled_bilm_gives_the_same_vectors_for_each_batch(
    make_bilm: BiLmMaker, compiled: Callable[[BiLm], Any], is_frozen: bool
) -> None:
    bilm = make_bilm().requires_grad_(not is_frozen)
    plain, call = copy.deepcopy(bilm), compiled(bilm)
    for batch in BATCHES:
        assert torch.equal(call(ids_of(*batch)).layers, plain(ids_of(*batch)).layers)


@pytest.mark.parametrize("is_frozen", [True, False])
def test_tracing_is_refused(make_bilm: BiLmMaker, is_frozen: bool) -> None:
    bilm = make_bilm().requires_grad_(not is_frozen)

    def layers(ids: Tensor) -> Tensor:
        return bilm(ids).layers

    with pytest.raises(BiLmError, match=r"torch\.jit\.trace cannot record a biLM"):
        torch.jit.trace(layers, ids_of("a play"))


@pytest.mark.skipif(
    not hasattr(torch.compiler, "is_exporting"), reason="this torch does not tell that it exports"
)
@pytest.mark.parametrize("is_frozen", [True, False])
def test_exporting_is_refused(make_bilm: BiLmMaker, is_frozen: bool) -> None:
    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bilm = make_bilm().requires_grad_(not is_frozen)

        def forward(self, ids: Tensor) -> Tensor:
            return self.bilm(ids).layers

    with pytest.raises(BiLmError, match=r"torch\.export \(ONNX\) cannot record a biLM"):
        torch.export.export(Layers(), (ids_of("a play"),))
