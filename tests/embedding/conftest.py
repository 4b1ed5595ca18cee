"""A small biLM whose activations are large enough to tell right from wrong."""

from pathlib import Path

import pytest

from elmo_plugin.bilm import BiLm
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
