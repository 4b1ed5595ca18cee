import pytest

from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def bundled_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets tests import the programs that make the bundled models by their names."""
    monkeypatch.syspath_prepend(REPOSITORY / "experiments" / "bundled")
