"""A small biLM whose activations are large enough to tell right from wrong."""

from pathlib import Path

import pytest
from torch import Tensor

from elmo_plugin.bilm import BiLm
from elmo_plugin.bilm.precision import PRECISIONS, Precision
from elmo_plugin.bilm.products import PackedLinear
from tests.small_bilm import loud_bilm, small_options, write_pair

SIZES = {"projection_dim": 5, "dim": 7}
OPTIONS = small_options(lstm=SIZES)


@pytest.fixture
def bilm() -> BiLm:
    """Frozen, as loaded ones are."""
    return loud_bilm(lstm=SIZES).requires_grad_(False)


@pytest.fixture
def bilm_files(bilm: BiLm, tmp_path: Path) -> dict[str, str]:
    """The small biLM in the published layout."""
    return write_pair(bilm, tmp_path)


class Rough(Precision):
    """float32 with weights of one decimal: a precision that every machine has, and that shows."""

    name = "rough"

    def pack(self, weight: Tensor, bias: Tensor | None) -> PackedLinear:
        return super().pack(weight.round(decimals=1), bias)


@pytest.fixture
def rough(monkeypatch: pytest.MonkeyPatch) -> str:
    """Registers that precision, and returns its name."""
    monkeypatch.setitem(PRECISIONS, "rough", Rough())
    return "rough"
