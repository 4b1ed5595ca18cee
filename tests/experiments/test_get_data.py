"""`experiments/get_data.py` writes what the readers take, here from small files in the sources' formats."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

import elmo_plugin.plugin  # noqa: F401  registers the readers
from tests.conftest import REPOSITORY
from tests.experiments.programs import experiment_module

PROGRAM = REPOSITORY / "experiments" / "get_data.py"


@pytest.fixture
def corpora(monkeypatch: pytest.MonkeyPatch) -> Any:
    return experiment_module("corpora", monkeypatch)


def get_data(*arguments: object, answer: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, *map(str, arguments)]
    return subprocess.run(command, input=answer, capture_output=True, text=True)


def of_wnut(folder: Path) -> Path:
    folder.mkdir()
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    for name in names:
        (folder / name).write_text("Empire\tB-location\nState\u200b\tI-location\n.\tO\n\nHi\tO\n\t\n")
    return folder


def test_named_entities_get_four_columns_without_invisible_characters(tmp_path: Path) -> None:
    done = get_data("ner", "--from", of_wnut(tmp_path / "from"), "--to", tmp_path / "data", "--yes")
    assert done.returncode == 0, done.stderr
    for part in ("train", "dev", "test"):
        written = (tmp_path / "data" / "ner" / f"{part}.txt").read_text()
        assert written == "Empire _ _ B-location\nState _ _ I-location\n. _ _ O\n\nHi _ _ O\n\n"
    assert "CC BY 4.0" in done.stderr and "not the file of the published results" in done.stderr
    reader = DatasetReader.from_params(Params({"type": "conll2003"}))
    assert len(list(reader.read(tmp_path / "data" / "ner" / "train.txt"))) == 2


def test_every_fifth_document_of_wikigold_is_dev_and_its_tags_are_bio(tmp_path: Path, corpora: Any) -> None:
    documents = ["Ada I-PER\nRome I-LOC\nParis B-LOC\n\nBonn I-LOC\nmet O\nBonn I-LOC\n\n"]
    documents += [f"Town{place} O\n\n" for place in range(1, 7)]
    path = tmp_path / "wikigold.conll.txt"
    path.write_text("".join(f"{document}-DOCSTART- O\n\n" for document in documents))
    files = dict(corpora.wikigold([path]))
    assert files["train.txt"].startswith(
        "-DOCSTART- -X- _ O\n\nAda _ _ B-PER\nRome _ _ B-LOC\nParis _ _ B-LOC\n\n"
        "Bonn _ _ B-LOC\nmet _ _ O\nBonn _ _ B-LOC\n\n-DOCSTART- -X- _ O\n\nTown1 _ _ O\n\n"
    )
    assert files["test.txt"] == "-DOCSTART- -X- _ O\n\nTown2 _ _ O\n\n"
    assert files["dev.txt"] == "-DOCSTART- -X- _ O\n\nTown4 _ _ O\n\n"


@pytest.mark.parametrize("answer, written", [("n\n", False), ("", False), ("y\n", True)])
def test_nothing_is_written_before_the_licence_is_accepted(
    tmp_path: Path, answer: str, written: bool
) -> None:
    source = of_wnut(tmp_path / "from")
    done = get_data("ner", "--from", source, "--to", tmp_path / "data", answer=answer)
    assert (tmp_path / "data").exists() == written == (done.returncode == 0)
    assert "Licence: CC BY 4.0" in done.stderr
