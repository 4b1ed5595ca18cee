"""The data of the experiments match their README, and the script cuts them as documented."""

import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

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
def test_the_experiment_reads_as_many_examples_as_the_readme_says(task: str) -> None:
    (row,) = re.findall(rf"^\| `{task}` \|.*", (DATA / "README.md").read_text(), re.MULTILINE)
    said = [int(cell.split()[0].replace(",", "")) for cell in row.split("|")[4:6]]
    config = read_config(f"experiments/{task}_baseline.jsonnet")
    reader = DatasetReader.from_params(
        Params(config.get("validation_dataset_reader", config["dataset_reader"]) | {"token_indexers": {}})
    )
    paths = [REPOSITORY / config[f"{part}_data_path"] for part in ("train", "validation")]
    assert [path.parent for path in paths] == [DATA / task] * 2
    assert [sum(1 for _ in reader.read(path)) for path in paths] == said


def test_whole_units_are_drawn_in_their_order_until_they_are_enough(cut: Any) -> None:
    units = ["a", "bb", "ccc", "dddd", "eeeee"]
    for seed in range(20):
        drawn = cut.draw(units, 6, seed, size=len)
        assert drawn == sorted(set(drawn))
        assert 6 <= sum(map(len, drawn)) < 6 + 5
        assert drawn == cut.draw(units, 6, seed, size=len)
    assert len({tuple(cut.draw(units, 6, seed, size=len)) for seed in range(20)}) > 1
    assert cut.draw(units, 100, 1, size=len) == units


def test_a_rating_becomes_a_class_and_no_review_is_in_both_parts(cut: Any, tmp_path: Path) -> None:
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
    assert first[0].startswith("(0 (2 good) (2 -LRB-) (2 phone) (2 -RRB-) (2 of) (2 review5) (2 .))")
