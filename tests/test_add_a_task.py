"""`docs/add_a_task.md`, followed literally, adds a task that trains and predicts."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from allennlp.commands import main

from elmo_plugin.commands.main import main as elmo
from tests.conftest import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "add_a_task.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
IN_THE_PACKAGE = {name: text for name, text in FILES.items() if name.startswith("elmo_plugin/")}
IN_A_PROJECT = {name: text for name, text in FILES.items() if name not in IN_THE_PACKAGE}
TEMPLATE = ("config.jsonnet", "inputs.jsonl", "data/train.txt", "data/dev.txt")
COMMANDS = re.findall(r"^    (allennlp .*)$", DOCUMENT, re.MULTILINE)


@pytest.mark.slow
def test_the_commands_train_and_predict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elmo(["new", "classify", str(tmp_path / "my_project")])
    monkeypatch.chdir(tmp_path / "my_project")
    monkeypatch.syspath_prepend(str(tmp_path / "my_project"))
    for name, content in IN_A_PROJECT.items():
        Path(name).write_text(content, encoding="utf-8")
    for command in [*COMMANDS[:-1], f"{COMMANDS[-1]} --output-file predictions.jsonl"]:
        monkeypatch.setattr("sys.argv", shlex.split(command))
        main()
    assert 0 <= json.loads(Path("run/metrics.json").read_text())["best_validation_accuracy"] <= 1
    first, second = map(json.loads, Path("predictions.jsonl").read_text().splitlines())
    assert first["words"] == ["Where", "is", "the", "play", "?"]
    assert second["words"] == ["Who", "is", "n't", "here", "?"]
    assert {first["label"], second["label"]} <= {"place", "person", "number"}


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@pytest.fixture
def package_with_the_task(tmp_path: Path) -> Path:
    """
    Returns a folder with a copy of the package in which the task was added as the page says: a
    folder of the task, the template of its project, and one changed line.
    """
    package = tmp_path / "copy" / "elmo_plugin"
    ignored = shutil.ignore_patterns("models", "__pycache__")
    shutil.copytree(REPOSITORY / "elmo_plugin", package, ignore=ignored)
    (package / "models").symlink_to(REPOSITORY / "elmo_plugin" / "models")
    for name, content in IN_THE_PACKAGE.items():
        write(package.parent / name, content)
    write(package / "tasks/questions/questions.py", FILES["questions.py"])
    for name in TEMPLATE:
        write(package / "projects/questions" / name, FILES[name])
    register = package / "register.py"
    lines = register.read_text(encoding="utf-8")
    changed = lines.replace(
        "from elmo_plugin.tasks import ", "from elmo_plugin.tasks import questions, "
    )
    assert changed != lines
    register.write_text(changed, encoding="utf-8")
    return package.parent


def run(package: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with the copied package."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_a_card_is_all_that_the_commands_need_to_know_a_new_task(
    package_with_the_task: Path, tmp_path: Path
) -> None:
    def elmo_says(*arguments: str) -> str:
        result = run(package_with_the_task, tmp_path, "-m", "elmo_plugin", *arguments)
        return result.stdout + result.stderr

    assert "questions, what a question asks for" in " ".join(elmo_says("new", "--help").split())
    assert "Did you mean elmo predict questions TEXT?" in elmo_says("question-type")
    assert "`elmo new questions FOLDER" in elmo_says("predict", "trec", "Who?")
    assert "wrote project" in elmo_says("new", "questions", "project")
    readme = (tmp_path / "project" / "README.md").read_text(encoding="utf-8")
    assert "A model with ELMo that finds what a question asks for" in readme


@pytest.mark.slow
def test_a_task_in_the_package_trains_predicts_and_is_shown(
    package_with_the_task: Path, tmp_path: Path
) -> None:
    made = run(package_with_the_task, tmp_path, "-m", "elmo_plugin", "new", "questions", "project")
    assert made.returncode == 0, made.stderr
    project = tmp_path / "project"
    train = ("-m", "allennlp", "train", "config.jsonnet", "-s", "run")
    trained = run(package_with_the_task, project, *train)
    assert trained.returncode == 0, trained.stderr
    # One process, as AllenNLP takes seconds to import.
    program = (
        "from elmo_plugin.commands.main import main\n"
        "from elmo_plugin.demo.tabs import task_tabs\n"
        "predict = ['predict', 'run/model.tar.gz', 'Where is Rome?']\n"
        "main(predict)\n"
        "main([*predict, '-o', 'out.csv'])\n"
        "(tab,) = task_tabs(['run/model.tar.gz'], 100, trust=False)\n"
        "(column,) = tab.answer(tab.examples[0])['columns']\n"
        "print(tab.about, [bar.label for bar in column['parts'][0].bars])"
    )
    shown = run(package_with_the_task, project, "-c", program)
    assert shown.returncode == 0, shown.stderr
    *predicted, on_the_page = shown.stdout.splitlines()
    assert predicted[0] in ("place", "person", "number")
    assert {line.split()[0] for line in predicted[1:4]} == {"place", "person", "number"}
    header = (project / "out.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("line,sentence,label,probability,")
    assert on_the_page.startswith("What does a question ask for?")
    assert "place" in on_the_page
