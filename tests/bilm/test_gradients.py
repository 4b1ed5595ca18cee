"""What is written by hand is a first derivative: whoever asks for a second one is told that there
is none.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from elmo_plugin.bilm.convolutions import WindowMaxima
from elmo_plugin.bilm.softmax import VocabularySoftmax
from tests.bilm.conftest import BiLmMaker, ids_of
from tests.bilm.direction import run_direction
from tests.small_bilm import loud_bilm

PACKAGE = Path(__file__).parents[2] / "elmo_plugin"


def lstm(inputs: Tensor) -> Tensor:
    return run_direction(loud_bilm().forward_lm, inputs, [2, 1])[0][-1]


def char_cnn(filters: Tensor) -> Tensor:
    return WindowMaxima.apply(torch.randn(2, 5, 3), filters, True)


def loss(hidden: Tensor) -> Tensor:
    return VocabularySoftmax(8, hidden.size(1))(hidden, torch.tensor([1, 2, 1]))[0]


PARTS = [(lstm, "_ProjectedLstm"), (char_cnn, "WindowMaxima"), (loss, "_Loss")]


@pytest.mark.parametrize(("compute", "name"), PARTS)
def test_double_backward_is_refused(compute: Callable[[Tensor], Tensor], name: str) -> None:
    leaf = torch.randn(3, 6, requires_grad=True)
    with pytest.raises(NotImplementedError, match=f"{name} does not support second derivatives"):
        torch.autograd.grad(compute(leaf).sum(), leaf, create_graph=True)


def test_backward_may_run_twice(make_bilm: BiLmMaker) -> None:
    bilm = make_bilm()
    total, parameters = bilm(ids_of("the play")).layers.square().sum(), list(bilm.parameters())
    first, second = (torch.autograd.grad(total, parameters, retain_graph=True) for _ in range(2))
    assert all(map(torch.equal, first, second))


def hand_written() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yields the autograd functions of the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                "Function" in ast.unparse(b) for b in node.bases
            ):
                yield f"{file.relative_to(PACKAGE)}: {node.name}", node


def test_every_hand_written_backward_refuses_double_backward() -> None:
    functions = dict(hand_written())
    assert len(functions) >= 7
    for name, node in functions.items():
        (backward,) = [
            f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "backward"
        ]
        assert "first_derivative_only" in map(ast.unparse, backward.decorator_list), name
