"""Files such as users have train by `elmo new TASK FOLDER --data FILE`, or it says what to change."""

import json
import re
from pathlib import Path

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params

from elmo_plugin.commands.main import main
from elmo_plugin.commands.new import PROJECT_TASKS
from tests.commands.own_files import CONLLU, OWN_FILES, OwnFile
from tests.conftest import REPOSITORY


def new(file: OwnFile, folder: Path) -> Path:
    (folder / file.name).write_text(file.text, encoding="utf-8")
    main(["new", file.task, str(folder / "project"), "--data", str(folder / file.name)])
    return folder / "project" / "config.jsonnet"


@pytest.mark.parametrize("kind", OWN_FILES)
def test_a_file_of_a_user_becomes_a_project_or_is_refused_with_a_reason(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = OWN_FILES[kind]
    if file.message:
        with pytest.raises(SystemExit, match=rf"^elmo new: .*{re.escape(file.message)}"):
            new(file, tmp_path)
        assert not (tmp_path / "project").exists()
    else:
        new(file, tmp_path)
        assert re.search(rf"{re.escape(file.name)}: \d+ examples", capsys.readouterr().out)


@pytest.mark.slow
def test_a_file_of_a_user_trains(tmp_path: Path) -> None:
    config = new(OWN_FILES["JSON lines of tags"], tmp_path)
    params = Params.from_file(config, json.dumps({"trainer.num_epochs": 1}))
    assert train_model(params, str(tmp_path / "run")) is not None


def test_labels_that_the_training_data_lack_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nNever again!,bad\n")
    (tmp_path / "dev.csv").write_text("text,label\nNever again!,0\n")
    with pytest.raises(SystemExit, match=r"dev\.csv: the label '0' is not in the training data"):
        main(["new", "classify", str(tmp_path / "project"), "--data", str(tmp_path)])


def test_tags_that_only_other_files_have_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.txt").write_text("Ada B-PER\nran O\n")
    (tmp_path / "dev.txt").write_text("Oslo B-LOC\nis O\n")
    main(["new", "ner", str(tmp_path / "project"), "--data", str(tmp_path)])
    assert (
        "dev.txt: no model can learn tags that the training data lack: U-LOC (1)" in capsys.readouterr().out
    )


def test_tags_without_entities_are_for_the_other_project(tmp_path: Path) -> None:
    (tmp_path / "train.conllu").write_text(CONLLU)
    with pytest.raises(SystemExit, match=r"mark no entities: `elmo new tag` .* tag_column .*'XPOS'.*'MISC'"):
        main(["new", "ner", str(tmp_path / "project"), "--data", str(tmp_path / "train.conllu")])


def test_most_of_the_files_can_be_used() -> None:
    assert len(OWN_FILES) == 21 and sum(not file.message for file in OWN_FILES.values()) >= 18


def documented_files() -> list[tuple[str, str, str]]:
    """Returns the task, the name and the text of each file in docs/your_data.md."""
    page = (REPOSITORY / "docs" / "your_data.md").read_text(encoding="utf-8")
    file = r"`(train\.\w+)`[^`]*(?:`[^`]*`[^`]*)?:\n\n```text\n(.*?)```"  # and maybe options before the colon
    return [
        (section.partition("\n")[0], name, text)
        for section in page.split("\n## elmo new ")[1:]
        for name, text in re.findall(file, section, re.DOTALL)
    ]


@pytest.mark.parametrize(("task", "name", "text"), documented_files())
def test_a_documented_file_becomes_a_project(task: str, name: str, text: str, tmp_path: Path) -> None:
    new(OwnFile(task, name, text), tmp_path)


def test_every_file_of_the_page_is_tried() -> None:
    page = (REPOSITORY / "docs" / "your_data.md").read_text(encoding="utf-8")
    assert len(documented_files()) == page.count("```text\n") - 1
    assert {task for task, _, _ in documented_files()} == PROJECT_TASKS.keys() - {"bilm"}
