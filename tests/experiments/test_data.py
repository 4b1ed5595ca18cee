"""The data of the experiments: what is got, what is cut as documented, and their README."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

import elmo_plugin.plugin  # noqa: F401  registers the readers
from tests.conftest import REPOSITORY
from tests.experiments.configs import read_config
from tests.experiments.programs import DATA, experiment_module

TASKS = ("ner", "srl", "coref", "squad", "snli", "sst")


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(DATA)
    return experiment_module("cut", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_experiments_read_the_number_of_examples_in_the_readme(task: str) -> None:
    (row,) = re.findall(rf"^\| `{task}` \|.*", (DATA / "README.md").read_text(), re.MULTILINE)
    said = [int(cell.split()[0].replace(",", "")) for cell in row.split("|")[4:6]]
    config = read_config(f"experiments/{task}_baseline.jsonnet")
    reader = DatasetReader.from_params(
        Params(
            config.get("validation_dataset_reader", config["dataset_reader"])
            | {"token_indexers": {}}
        )
    )
    paths = [REPOSITORY / config[f"{part}_data_path"] for part in ("train", "validation")]
    assert [path.parent for path in paths] == [DATA / task] * 2
    assert [sum(1 for _ in reader.read(path)) for path in paths] == said


def test_whole_units_are_drawn_in_order_until_there_are_enough(cut: Any) -> None:
    units = ["a", "bb", "ccc", "dddd", "eeeee"]
    for seed in range(20):
        drawn = cut.draw(units, 6, seed, size=len)
        assert drawn == sorted(set(drawn))
        assert 6 <= sum(map(len, drawn)) < 6 + 5
        assert drawn == cut.draw(units, 6, seed, size=len)
    assert len({tuple(cut.draw(units, 6, seed, size=len)) for seed in range(20)}) > 1
    assert cut.draw(units, 100, 1, size=len) == units


def test_ratings_become_classes_and_no_review_is_in_both_parts(cut: Any, tmp_path: Path) -> None:
    ratings = {-3.2: 0, -1.0: 1, -0.5: 1, 0.4: 2, 1.1: 3, 2.5: 4}
    lines = [
        f"{review}_{place}\t{rating}\tgood (phone) of review{review} ."
        for review in range(1, 11)
        for place, rating in enumerate(ratings)
    ]
    (tmp_path / "ratings.txt").write_text("\n".join(lines))
    parts = [cut.reviews(tmp_path / "ratings.txt", part, 99, seed=1) for part in ("train", "dev")]
    reviews = [set(re.findall(r"review\d+", part)) for part in parts]
    assert (len(reviews[0]), len(reviews[1])) == (8, 2)
    assert not reviews[0] & reviews[1]
    first = parts[1].splitlines()[: len(ratings)]
    assert [int(tree[1]) for tree in first] == list(ratings.values())
    assert first[0].startswith(
        "(0 (2 good) (2 -LRB-) (2 phone) (2 -RRB-) (2 of) (2 review5) (2 .))"
    )


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
        (folder / name).write_text(
            "Empire\tB-location\nState\u200b\tI-location\n.\tO\n\nHi\tO\n\t\n"
        )
    return folder


def test_named_entities_are_written_in_four_columns_without_invisible_characters(
    tmp_path: Path,
) -> None:
    done = get_data("ner", "--from", of_wnut(tmp_path / "from"), "--to", tmp_path / "data", "--yes")
    assert done.returncode == 0, done.stderr
    for part in ("train", "dev", "test"):
        written = (tmp_path / "data" / "ner" / f"{part}.txt").read_text()
        assert written == "Empire _ _ B-location\nState _ _ I-location\n. _ _ O\n\nHi _ _ O\n\n"
    assert "CC BY 4.0" in done.stderr and "not the file of the published results" in done.stderr
    reader = DatasetReader.from_params(Params({"type": "conll2003"}))
    assert len(list(reader.read(tmp_path / "data" / "ner" / "train.txt"))) == 2


def test_every_fifth_document_of_wikigold_is_dev_and_its_tags_are_bio(
    tmp_path: Path, corpora: Any
) -> None:
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
