"""Files such as users have train by `elmo new TASK FOLDER --data FILE`, or it says what to change."""

import json
import re
from pathlib import Path

import pytest

from elmo_plugin.commands.main import main
from elmo_plugin.commands.new import PROJECT_TASKS
from tests.conftest import REPOSITORY

CONLLU = """\
# text = Lena sold it
1\tLena\tlena\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1)
2\tsold\tsell\tVERB\t_\t_\t0\troot\t_\t_
3\tit\tit\tPRON\t_\t_\t2\tobj\t_\tEntity=(e2)

"""
IMPOSSIBLE = {"id": "q1", "question": "Who closed it?", "is_impossible": True, "answers": []}
SQUAD_2 = {
    "data": [{"title": "Mill", "paragraphs": [{"context": "It rained.", "qas": [IMPOSSIBLE]}]}]
}


def new(task: str, name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    main(["new", task, str(folder / "project"), "--data", str(folder / name)])


@pytest.mark.parametrize(
    ("task", "name", "text", "message"),
    [
        ("squad", "train.json", json.dumps(SQUAD_2), "train.json: no questions in this file"),
        ("srl", "train.conllu", CONLLU, "train.conllu"),
        ("ner", "train.conllu", CONLLU, "mark no entities: `elmo import tag`"),
    ],
)
def test_an_unsuitable_training_file_is_refused_with_a_reason(
    task: str, name: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=rf"^elmo new: .*{re.escape(message)}"):
        new(task, name, text, tmp_path)
    assert not (tmp_path / "project").exists()


def test_labels_missing_from_the_training_data_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nNever again!,bad\n")
    (tmp_path / "dev.csv").write_text("text,label\nNever again!,bad\nNever again!,Bad\n")
    message = r"dev: the label 'Bad' is not in the training data; did you mean 'bad'\?"
    with pytest.raises(SystemExit, match=message):
        main(["new", "classify", str(tmp_path / "project"), "--data", str(tmp_path)])


def test_options_without_their_data_are_refused(tmp_path: Path) -> None:
    message = "the options that say how data are read are for --data, which is missing"
    with pytest.raises(SystemExit, match=f"^elmo new: {message}"):
        main(["new", "classify", str(tmp_path / "project"), "--language", "tr"])
    assert not (tmp_path / "project").exists()


def test_tags_missing_from_the_training_data_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.txt").write_text("Ada B-PER\nran O\n")
    (tmp_path / "dev.txt").write_text("Oslo B-LOC\nis O\n")
    main(["new", "ner", str(tmp_path / "project"), "--data", str(tmp_path)])
    assert (
        "dev: no model can learn entities that the training data lack: LOC (1)"
        in capsys.readouterr().out
    )


def test_data_with_one_label_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new("classify", "train.csv", "text,label\nAda ran.,a\nIt fell.,a\n", tmp_path)
    assert "train: with one label there is nothing to learn" in capsys.readouterr().out


def documented_files() -> list[tuple[str, str, str]]:
    """Returns the task, the name and the text of each file in docs/your_data.md."""
    page = (REPOSITORY / "docs" / "your_data.md").read_text(encoding="utf-8")
    # and maybe options before the colon
    file = r"`(train\.\w+)`[^`]*(?:`[^`]*`[^`]*)?:\n\n```text\n(.*?)```"
    return [
        (section.partition("\n")[0], name, text)
        for section in page.split("\n## elmo new ")[1:]
        for name, text in re.findall(file, section, re.DOTALL)
    ]


@pytest.mark.parametrize(("task", "name", "text"), documented_files())
def test_a_documented_file_becomes_a_project(
    task: str, name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new(task, name, text, tmp_path)
    assert re.search(r"train: \d+ ", capsys.readouterr().out)


def test_every_file_on_the_page_is_tested() -> None:
    page = (REPOSITORY / "docs" / "your_data.md").read_text(encoding="utf-8")
    assert len(documented_files()) == page.count("```text\n") - 1
    assert {task for task, _, _ in documented_files()} == PROJECT_TASKS.keys() - {"bilm"}
