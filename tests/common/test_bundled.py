"""The list of the models in this package, and their names in place of paths."""

import re
from pathlib import Path

import pytest

from elmo_plugin.bilm.io.sources import BUNDLED_MODELS
from elmo_plugin.commands.options import ArchivePath
from elmo_plugin.common.bundled import (
    BUNDLED,
    archive_path,
    bundled_models,
    model_name,
    tagger_of,
    trained_models,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding.word_table import BUNDLED_TABLES


def test_every_model_of_the_package_is_listed_with_its_card() -> None:
    listed = {
        model.file if model.file.is_dir() else model.file.parent
        for model in bundled_models().values()
    }
    assert listed == {card.parent for card in BUNDLED.glob("*/*/README.md")}
    assert {*BUNDLED_MODELS, *BUNDLED_TABLES} == bundled_models().keys() - trained_models().keys()


@pytest.mark.parametrize("name", trained_models())
def test_trained_model_is_small_and_its_card_has_its_score(name: str) -> None:
    model = trained_models()[name]
    card = (model.file.parent / "README.md").read_text(encoding="utf-8")
    score, _, metric = model.score.partition(" ")
    assert (
        f"| {metric} | {score} |" in card and f"experiments/bundled/models.jsonnet:{name} " in card
    )
    assert model.file.stat().st_size < 5e6
    assert (numbers := re.findall(r"[0-9,]+\d", model.trained_on)) and all(
        each in card for each in numbers
    )


def test_a_models_name_wins_over_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").mkdir()
    assert archive_path("ner") == BUNDLED / "tasks/ner/model.tar.gz"
    (tmp_path / "sst").touch()
    for name in ("ner", "sst"):
        ArchivePath(name).check()
    assert archive_path("./ner") == archive_path(Path("ner")) == Path("ner")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("NER", "ner"),
        ("sentiment", "sst"),
        ("QA", "squad"),
        ("coreference_resolution", "coref"),
        ("Semantic roles", "srl"),
    ],
)
def test_synonyms_of_a_task_lead_to_its_model_if_no_such_file_exists(
    word: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert archive_path(word) == trained_models()[name].file
    assert ArchivePath(word) == name and tagger_of(word) == trained_models()[name].predicates
    assert model_name(Path(word)) == Path(word)
    (tmp_path / word).mkdir()
    assert archive_path(word) == Path(word)


@pytest.mark.parametrize("path", ["./ner", "../SST/", "sentiment/", ".pos", "./base"])
def test_a_path_is_never_taken_for_the_name_of_a_model(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert model_name(path) == path and archive_path(path) == Path(path)
    with pytest.raises(BiLmError, match=f"^archive not found: {re.escape(path)}$"):
        ArchivePath(path).check()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pos", "this package has no such model; `elmo new tag FOLDER --data PATH`"),
        ("summaries", f"this package has the trained models {', '.join(trained_models())}"),
        ("sentimnt", "did you mean 'sst'"),
        ("nre", "archive nre: file not found; did you mean 'ner'"),
        ("base", "and base is a biLM, not a trained model: expected one of ner, "),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(word: str, message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        archive_path(word)
