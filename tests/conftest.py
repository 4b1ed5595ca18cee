"""Fixtures that every test may use."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: give --slow to run it"))


@pytest.fixture
def shared() -> Path:
    """The folder of real data and outside figures that lies beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared (real data and outside figures), which is not here")
    return SHARED
