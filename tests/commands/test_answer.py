"""The answers to a file of SQuAD, as the official script reads them."""

import json
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.squad import score_squad
from tests.commands.run import run
from tests.tasks.squad import test_contract
from tests.trained_tagger import train

DATA = test_contract.TestSquad.data


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    train(test_contract.TestSquad.config([]), folder / "run")
    return folder / "run" / "model.tar.gz"


def test_every_question_has_an_answer_that_is_scored(archive: Path, tmp_path: Path) -> None:
    output = tmp_path / "answers.json"
    run("answer", archive, DATA, "-o", output, "--batch-size", 3)
    assert list(json.loads(output.read_text())) == ["a1", "a2", "a3", "b1"]
    _, figures = score_squad(str(DATA), str(output))
    assert (figures["total"], figures["missing"]) == (4, 0)


def test_nothing_is_written_where_the_data_are_malformed(archive: Path, tmp_path: Path) -> None:
    data, output = tmp_path / "data.json", tmp_path / "answers.json"
    data.write_text('{"data": [')
    with pytest.raises(ConfigurationError, match=r"data.json, line 1: not JSON"):
        run("answer", archive, data, "-o", output)
    assert list(tmp_path.iterdir()) == [data]


def test_the_archive_of_another_task_is_refused(tagger_archives: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the model is of another task than SQuAD"):
        run("answer", tagger_archives[0], DATA, "-o", tmp_path / "answers.json")
