"""Each variant is what its name says, and each configuration has a complete head."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.experiments.configs import EMBEDDERS, flat, read_config

EXPERIMENTS = REPOSITORY / "experiments"
FILES = sorted([*EXPERIMENTS.glob("*.jsonnet"), *(REPOSITORY / "training_config").glob("[!b]*.jsonnet")])
OF_EVERY_TASK = (
    "baseline elmo base top lambda_1 token_layer base_no_words static_base static_base_elmo bfloat16"
)
OF_ONE_TASK = {
    "coref": "output both no_speakers no_genre may_cross",
    "ner": "output both lambda_0.001",
    "snli": "input output",
    "squad": "input output no_self_attention no_moving_average any_length",
    "srl": "output both",
    "sst": "input output",
}
WORDS = f"{EMBEDDERS}.tokens"


@pytest.fixture(scope="module")
def variants() -> dict[str, Any]:
    return read_config("experiments/variants.jsonnet")


def test_there_is_every_variant_and_no_two_are_the_same(variants: dict[str, Any]) -> None:
    names = {
        f"{task}_{name}"
        for task, others in OF_ONE_TASK.items()
        for name in (OF_EVERY_TASK + " " + others).split()
    }
    assert variants.keys() == names
    assert all(variants[a] != variants[b] for a in variants for b in variants if a < b)


@pytest.mark.parametrize("variant", [f"{task}_{one}" for task in OF_ONE_TASK for one in ("baseline", "base")])
def test_a_variant_learns_its_words_and_is_otherwise_the_file_of_its_task(
    variant: str, variants: dict[str, Any]
) -> None:
    learned = flat(variants[variant])
    name = variant.removesuffix("base") + "elmo" if variant.endswith("base") else variant
    file = flat(read_config(f"experiments/{name}.jsonnet"))
    different = {key for key in learned.keys() | file.keys() if learned.get(key) != file.get(key)}
    length = {"trainer.num_epochs", "trainer.patience"} if variant.startswith("ner") else set()
    assert {key for key in different if ".tokens" not in key} == length
    assert (learned[f"{WORDS}.type"], file[f"{WORDS}.vectors"]) == ("embedding", "english")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_head_has_paper_deviation_scores_and_hardware_and_retypes_no_score(file: Path) -> None:
    head = re.split(r"\n(?!//)", file.read_text(encoding="utf-8"))[0]
    entries = dict(re.findall(r"^// ([A-Z][a-z]+): +(.*(?:\n//  +.*)*)", head, re.MULTILINE))
    assert list(entries)[:4] == ["Paper", "Here", "Expected", "Hardware"]
    if file.parent == EXPERIMENTS:
        assert len(re.findall(r"docs/results/\w+\.json", entries["Expected"])) == 1
        assert not re.search(
            r"\d %|\d F1|\d\.\d", entries["Expected"] + entries["Here"].split("a rate of")[0]
        )
