"""The command that lists the models of this package."""

import json
from pathlib import Path

import pytest

from elmo_plugin.common.bundled import archive_path, bundled_models
from tests.commands.run import run


def test_every_model_has_a_line_with_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    run("models")
    lines = capsys.readouterr().out.splitlines()[1:]
    for line, model in zip(lines, bundled_models().values(), strict=False):
        assert line.startswith(model.name) and model.score in line and line.endswith(" MB")


def test_path_prints_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("models", "--path", "ner", "--json", tmp_path / "models.json")
    assert capsys.readouterr().out == f"{archive_path('ner')}\n"
    (listed,) = (
        each for each in json.loads((tmp_path / "models.json").read_text()) if each["name"] == "ner"
    )
    assert listed["path"] == str(archive_path("ner")) and listed["bytes"] > 1e6
