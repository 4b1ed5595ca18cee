"""Each of `experiments/ablations/` differs from the model that it varies in what its name says."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from tests.conftest import REPOSITORY
from tests.experiments.test_configs import (
    EMBEDDERS,
    INDEXER,
    INPUT,
    INPUT_WEIGHTS,
    OUTPUT,
    OUTPUT_WEIGHTS,
    embedder_at,
    flat,
)

EXPERIMENTS = REPOSITORY / "experiments"
FILES = sorted(EXPERIMENTS.glob("ablations/*.jsonnet"))
REGEXES = "model.regularizer.regexes"
ABSENT = "absent"


def changes(reference: str, ablation: str) -> dict[str, Any]:
    """
    What `experiments/ablations/ABLATION` has in other places than `experiments/REFERENCE`. A reader for
    validation must have the changes of that for training.
    """
    old, new = (
        flat(Params.from_file(EXPERIMENTS / f"{name}.jsonnet").as_dict(quiet=True))
        for name in (reference, f"ablations/{ablation}")
    )
    found = {
        path: new.get(path, ABSENT)
        for path in old.keys() | new.keys()
        if old.get(path, ABSENT) != new.get(path, ABSENT)
    }
    for path in [path for path in found if path.startswith("validation_dataset_reader.")]:
        assert found.pop(path) == found[path.removeprefix("validation_")]
    return found


def penalties(config: str) -> list[Any]:
    """The strengths of the penalties on the mixing weights."""
    regexes = flat(Params.from_file(EXPERIMENTS / f"{config}.jsonnet").as_dict(quiet=True)).get(REGEXES, [])
    return [options for name, options in regexes if name in (INPUT_WEIGHTS, OUTPUT_WEIGHTS)]


def l2(*strengths: float) -> list[Any]:
    return [{"type": "l2", "alpha": strength} for strength in strengths]


WORDS = {
    f"{EMBEDDERS}.tokens.type": ABSENT,
    f"{EMBEDDERS}.tokens.embedding_dim": ABSENT,
    "dataset_reader.token_indexers.tokens.type": ABSENT,
    "dataset_reader.token_indexers.tokens.lowercase_tokens": ABSENT,
    "vocabulary.min_count.tokens": ABSENT,
}
OWN = {"ner": ["input"], "snli": ["input", "output"], "sst": ["input", "output"]}  # where the model has ELMo
PATHS = {"input": INPUT, "output": OUTPUT}


def test_there_is_every_ablation_of_every_task() -> None:
    of_all = ["lambda_1", "no_words", "token_layer", "top"]
    of_ner = ["both", "lambda_0.001", "output"]
    expected = [f"{task}_{name}" for task in OWN for name in of_all] + [f"ner_{name}" for name in of_ner]
    assert sorted(path.stem for path in FILES) == sorted(expected)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_its_head_and_what_its_name_says(path: Path) -> None:
    *head, last = path.read_text().splitlines()
    assert [line.split(":")[0] for line in head if line[3:4].isupper()] == [
        "// Paper",
        "// Here",
        "// Expected",
        "// Hardware",
    ]
    task, _, name = path.stem.partition("_")
    assert last.replace("['", ".").replace("']", "") == f"(import 'ablations.libsonnet').{task}.{name}"


@pytest.mark.parametrize("task", OWN)
def test_top_mixes_nothing(task: str) -> None:
    expected = {f"{PATHS[placement]}.layers": "top" for placement in OWN[task]}
    assert changes(f"{task}_elmo", f"{task}_top") == expected


@pytest.mark.parametrize(("task", "strength"), [("ner", 1), ("ner", 0.001), ("snli", 1), ("sst", 1)])
def test_lambda_is_the_only_change(task: str, strength: float) -> None:
    name = f"{task}_lambda_{strength}"
    assert changes(f"{task}_elmo", name).keys() == {REGEXES}
    assert penalties(f"ablations/{name}") == l2(strength) * len(OWN[task])


@pytest.mark.parametrize("task", ["snli", "sst"])
def test_lambda_is_0_001_already_in_the_others(task: str) -> None:
    assert penalties(f"{task}_elmo") == l2(0.001, 0.001)


def test_both_adds_the_output_and_output_moves_it() -> None:
    at_output = embedder_at(OUTPUT)
    both, output = changes("ner_elmo", "ner_both"), changes("ner_elmo", "ner_output")
    assert both.pop(REGEXES) == [[INPUT_WEIGHTS, *l2(0.1)], [OUTPUT_WEIGHTS, *l2(0.1)]]
    assert output.pop(REGEXES) == [[OUTPUT_WEIGHTS, *l2(0.1)]]
    assert both == at_output
    assert output == at_output | dict.fromkeys(embedder_at(INPUT), ABSENT)


@pytest.mark.parametrize("task", OWN)
def test_token_layer_takes_the_place_of_the_words_of_the_baseline(task: str) -> None:
    options = {"layer_norm": True} if task == "snli" else {}
    found = changes(f"{task}_baseline", f"{task}_token_layer")
    assert found.pop(REGEXES)[-1][0] == INPUT_WEIGHTS
    assert found == WORDS | INDEXER | embedder_at(INPUT, layers="token", **options)


@pytest.mark.parametrize("task", OWN)
def test_no_words_takes_the_words_of_the_model_with_elmo(task: str) -> None:
    assert changes(f"{task}_elmo", f"{task}_no_words") == WORDS
