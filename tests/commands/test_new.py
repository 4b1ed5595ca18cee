"""`elmo new` writes projects whose documented lines run, wherever they are."""

import json
import shlex
from pathlib import Path

import pytest
from allennlp.commands import main as allennlp
from allennlp.common import Params

from elmo_plugin.commands.main import main
from elmo_plugin.commands.new import LIBRARY, PROJECT_TASKS
from tests.conftest import REPOSITORY


@pytest.fixture(params=PROJECT_TASKS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    main(["new", request.param, str(tmp_path / "project")])
    return tmp_path / "project"


def commands(project: Path) -> list[str]:
    lines = (project / "README.md").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    allennlp ")]


def test_a_project_has_what_its_readme_names_and_imports_nothing_from_outside(project: Path) -> None:
    train, evaluate, predict = map(shlex.split, commands(project))
    config = Params.from_file(project / train[2]).as_dict(quiet=True)
    assert config["model"]["contextual_encoder"]["elmo"]["input"]
    data = [config["train_data_path"], config["validation_data_path"]]
    assert evaluate[3] == data[1] and all((project / file).is_file() for file in [*data, predict[3]])
    library = {file.name: file.read_bytes() for file in (project / "lib").iterdir()}
    assert library == {file.name: file.read_bytes() for file in LIBRARY.iterdir()}
    assert (project / ".allennlp_plugins").read_text() == (REPOSITORY / ".allennlp_plugins").read_text()


@pytest.mark.slow
def test_the_lines_of_its_readme_train_evaluate_and_predict(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    train, evaluate, predict = map(shlex.split, commands(project))
    less = ["-o", json.dumps({"trainer.num_epochs": 1})]
    for arguments in ([*train, *less], evaluate, [*predict, "--output-file", "predictions.jsonl"]):
        monkeypatch.setattr("sys.argv", arguments)
        allennlp()
    names = ("inputs.jsonl", "predictions.jsonl")
    inputs, predictions = (Path(name).read_text().splitlines() for name in names)
    assert len(predictions) == len(inputs) and all(map(json.loads, predictions))


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match=rf"^elmo new: {tmp_path} already exists"):
        main(["new", "ner", str(tmp_path)])
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
