"""The soak writes what it promises; whether memory stays is for a long one to say."""

from pathlib import Path

import pytest

from tests.benchmarks.programs import figures_of


@pytest.mark.slow
def test_a_short_soak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures = figures_of("soak", ["--calls", "20"], monkeypatch, tmp_path)
    assert figures["calls"] == 20 and len(figures["megabytes"]) == 10
    assert figures["same_tags"] and figures["max_difference"] < 1e-5
