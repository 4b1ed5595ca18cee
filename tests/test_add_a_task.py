"""`docs/add_a_task.md`, followed literally, adds a task that trains and predicts."""

import json
import re
import shlex
from pathlib import Path

import pytest
from allennlp.commands import main

from elmo_plugin.commands.main import main as elmo
from tests.conftest import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "add_a_task.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^    (allennlp .*)$", DOCUMENT, re.MULTILINE)


@pytest.mark.slow
def test_the_commands_train_and_predict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elmo(["new", "classify", str(tmp_path / "my_project")])
    monkeypatch.chdir(tmp_path / "my_project")
    monkeypatch.syspath_prepend(str(tmp_path / "my_project"))
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="utf-8")
    for command in [*COMMANDS[:-1], f"{COMMANDS[-1]} --output-file predictions.jsonl"]:
        monkeypatch.setattr("sys.argv", shlex.split(command))
        main()
    assert 0 <= json.loads(Path("run/metrics.json").read_text())["best_validation_accuracy"] <= 1
    first, second = map(json.loads, Path("predictions.jsonl").read_text().splitlines())
    assert first["words"] == ["Where", "is", "the", "play", "?"]
    assert second["words"] == ["Who", "is", "n't", "here", "?"]
    assert {first["label"], second["label"]} <= {"place", "person", "number"}
