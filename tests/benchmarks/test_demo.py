"""The benchmark of the demo's page writes what it promises."""

from pathlib import Path

import pytest

from tests.benchmarks.programs import figures_of


@pytest.mark.slow
def test_a_few_requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = ["--bilm", "tiny", "--requests", "6", "--at-once", "3", "--repeat", "2"]
    figures = figures_of("demo", options, monkeypatch, tmp_path)
    assert figures["wrong"] == 0 and figures["requests"] == 18 and len(figures["megabytes"]) == 3
    assert 0 < figures["bilm_median"] <= figures["bilm_p95"] and figures["first_answer_seconds"] > 0
