"""A small biLM in the published layout, whose activations are large enough to tell right from
wrong.
"""

from pathlib import Path

import pytest

from tests.small_bilm import loud_bilm, write_pair

Files = tuple[str, str]


def write_bilm(folder: Path, seed: int = 0) -> Files:
    """Writes options and weights, drawn at random."""
    files = write_pair(loud_bilm(seed), folder)
    return files["options"], files["weights"]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_bilm(tmp_path / "bilm")
