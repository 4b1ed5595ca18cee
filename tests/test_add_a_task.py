"""`docs/add_a_task.md`, followed literally, adds a task that trains, predicts and keeps to the contract."""

import importlib
import json
import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from allennlp.commands import main

import elmo_plugin.tasks
from tests import conftest
from tests.conftest import REPOSITORY
from tests.experiments import configs
from tests.tasks.contract import TaskContract

DOCUMENT = (REPOSITORY / "docs" / "add_a_task.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^    (allennlp .*)$", DOCUMENT, re.MULTILINE)

pytestmark = pytest.mark.slow


class TestContract(TaskContract):
    """The contract, for what the document's own test says."""


@pytest.fixture(scope="module", autouse=True)
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Makes a repository of the library and the document's files, whose task can be imported."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(REPOSITORY / "elmo_plugin" / "jsonnet", folder / "elmo_plugin" / "jsonnet")
    for name, content in FILES.items():
        assert not (REPOSITORY / name).exists(), name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        tasks = [*elmo_plugin.tasks.__path__, str(folder / "elmo_plugin" / "tasks")]
        patch.setattr(elmo_plugin.tasks, "__path__", tasks)
        patch.setattr(conftest, "REPOSITORY", folder)
        patch.setattr(configs, "REPOSITORY", folder)
        importlib.import_module("elmo_plugin.tasks.trec")
        test = runpy.run_path(str(folder / "tests" / "tasks" / "trec" / "test_contract.py"))["TestTrec"]
        for name in ("task", "data", "inputs"):
            patch.setattr(TestContract, name, getattr(test, name), raising=False)
        yield folder


def test_a_task_is_at_most_three_python_files_and_one_library_file() -> None:
    assert len([name for name in FILES if re.match(r"elmo_plugin/.*\.py$", name)]) <= 3
    assert [name for name in FILES if name.endswith(".libsonnet")] == ["elmo_plugin/jsonnet/trec.libsonnet"]


@pytest.mark.slow
def test_the_commands_train_and_predict(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    for command in COMMANDS:
        monkeypatch.setattr("sys.argv", shlex.split(command))
        main()
    metrics = json.loads((repository / "runs" / "trec" / "metrics.json").read_text())
    assert 0 <= metrics["best_validation_accuracy"] <= 1
    lines = (repository / "runs" / "predictions.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert first["words"] == ["Where", "is", "the", "play", "?"]
    assert second["words"] == ["Who", "is", "n't", "here", "?"]
    assert {first["label"], second["label"]} <= {"place", "person", "number"}
