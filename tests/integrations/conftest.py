"""The biLM of the tests of all libraries."""

from pathlib import Path

import pytest

from tests.small_bilm import loud_bilm, write_pair


@pytest.fixture
def pair(tmp_path: Path) -> dict[str, str]:
    return write_pair(loud_bilm(), tmp_path)
