"""Sentences and pairs made from patterns for the bundled models."""

import importlib
import random
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import REPOSITORY

BUNDLED = REPOSITORY / "experiments" / "bundled"
NUMBER_OF_MONEY = re.compile(
    r"(?:EUR|€|\$|£|SEK|USD)? ?(\d+(?:\.\d)?)(?: ?(?:mn?|million|billion))?"
)


@pytest.fixture
def sentiment() -> ModuleType:
    return importlib.import_module("sentiment_patterns")


@pytest.fixture
def inference() -> ModuleType:
    return importlib.import_module("pair_patterns")


def made_sentences(sentiment: ModuleType, name: str) -> list[tuple[str, str]]:
    return sentiment.sentences(BUNDLED / f"{name}.txt", 3000, random.Random(1))


@pytest.mark.parametrize("name", ["business", "everyday"])
def test_a_third_of_the_sentences_is_of_each_side_and_none_is_twice(
    sentiment: ModuleType, name: str
) -> None:
    made = made_sentences(sentiment, name)
    sides = [side for _, side in made]
    assert [sides.count(side) for side in sentiment.SIDES] == [1000, 1000, 1000]
    assert len({text for text, _ in made}) == 3000
    assert not any("{" in text or text[0].islower() for text, _ in made)


def test_profits_that_go_up_are_good_and_those_that_go_down_are_bad(sentiment: ModuleType) -> None:
    compared = 0
    for text, side in made_sentences(sentiment, "business"):
        match = re.search(r"of (?P<now>.+), (?P<way>up|down) from (?P<before>.+)", text)
        if match is None:
            continue
        compared += 1
        now, before = (
            float(NUMBER_OF_MONEY.search(match[name])[1])  # type: ignore[index]
            for name in ("now", "before")
        )
        assert (now > before) == (match["way"] == "up") == (side == "positive"), text
    assert compared > 10


@given(seed=st.integers(0, 10**6))
def test_the_larger_amount_of_two_is_larger(seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BUNDLED)
        amounts = importlib.import_module("sentiment_patterns").two_amounts(random.Random(seed))
    less, more = (re.search(r"\d+(\.\d)?", amounts[name])[0] for name in ("LESS", "MORE"))  # type: ignore[index]
    assert float(less) < float(more)
    assert amounts["LESS"].replace(less, "0") == amounts["MORE"].replace(more, "0")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("good\tIt rose", "line 1: expected a side or a place, got 'good"),
        ("positive It rose", "line 1: expected a side or a place"),
        ("positive\tIt {ROSE}", "nothing fills ROSE"),
        ("@A\t{B} | c", "nothing fills B"),
    ],
)
def test_a_mistake_in_sentence_patterns_is_named(
    sentiment: ModuleType, tmp_path: Path, line: str, message: str
) -> None:
    file = tmp_path / "patterns.txt"
    file.write_text(line + "\n")
    with pytest.raises(ValueError, match=re.escape(str(file)) + ".*" + message):
        sentiment.read_patterns(file)


def test_the_companies_of_dev_are_not_those_of_training(sentiment: ModuleType) -> None:
    fillers = sentiment.read_patterns(BUNDLED / "business.txt").fillers
    dev = (BUNDLED / "dev_business.tsv").read_text(encoding="utf-8")
    names = {name for slot in ("STEM", "BRAND", "TICKER") for name in fillers[slot]}
    assert names.isdisjoint(re.findall(r"\w+", dev))


@pytest.mark.parametrize("name", ["business", "everyday"])
def test_sentences_of_dev_and_first_sentences_are_not_made(
    sentiment: ModuleType, name: str
) -> None:
    score = importlib.import_module("first_sentences.score")
    data = importlib.import_module("sst_data")
    kept = [text for text, _ in data.rated(BUNDLED / f"dev_{name}.tsv")]
    kept += [each["sentence"] for each in score.read("sst", kept=True)]
    made = {
        letters(text)
        for seed in range(4)
        for text, _ in sentiment.sentences(BUNDLED / f"{name}.txt", 3000, random.Random(seed))
    }
    assert made.isdisjoint(map(letters, kept))


def letters(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text.lower())


def test_places_are_filled_alike_with_the_same_number_and_differently_with_others(
    inference: ModuleType,
) -> None:
    pattern = inference.Pair("The {P1} {V} a {P2}.", "A {P2} was {V.2} by the {P1}.", "entailment")
    fillers = {"P": [["nurse"], ["actor"]], "V": [["saw", "seen"]]}
    made = {tuple(inference.fill(pattern, fillers, random.Random(seed))) for seed in range(30)}
    assert made == {
        ("The nurse saw an actor.", "An actor was seen by the nurse.", "entailment"),
        ("The actor saw a nurse.", "A nurse was seen by the actor.", "entailment"),
    }


@pytest.mark.parametrize("name", ["overlap", "opposites", "dev_overlap", "dev_opposites"])
def test_a_third_of_the_pairs_has_each_label_and_no_pair_two(
    inference: ModuleType, name: str
) -> None:
    made = inference.pairs(BUNDLED / f"{name}.txt", 600, random.Random(1))
    labels = [pair.label for pair in made]
    assert [labels.count(label) for label in inference.LABELS] == [200, 200, 200]
    assert len({(pair.premise, pair.hypothesis) for pair in made}) == 600


@pytest.mark.parametrize("name", ["overlap", "opposites"])
def test_words_and_patterns_of_dev_are_not_those_of_training(
    inference: ModuleType, name: str
) -> None:
    train = inference.read_patterns(BUNDLED / f"{name}.txt")
    dev = inference.read_patterns(BUNDLED / f"dev_{name}.txt")
    people = [{filler[0] for filler in patterns.fillers["P"]} for patterns in (train, dev)]
    assert people[0].isdisjoint(people[1])
    assert {pair.premise for pair in train.pairs} != {pair.premise for pair in dev.pairs}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["yes\tA\tB"], "line 1: expected a pair or a place, got 'yes"),
        (["neutral\tA"], "line 1: expected a pair or a place"),
        (["# fine", "neutral\tThe {A}\tB"], "line 2: nothing fills A"),
        (["@A\tb/c | d", "neutral\tThe {A.2}\tB"], "line 2: a filler of A lacks form 2"),
    ],
)
def test_a_mistake_in_pair_patterns_is_named(
    inference: ModuleType, tmp_path: Path, lines: list[str], message: str
) -> None:
    file = tmp_path / "patterns.txt"
    file.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=message):
        inference.read_patterns(file)


def test_passives_and_exchanged_roles_have_the_label_of_their_meaning(
    inference: ModuleType,
) -> None:
    """Compares who does what to whom, read from each sentence, with the label."""
    checked = 0
    for pair in inference.pairs(BUNDLED / "overlap.txt", 3000, random.Random(1)):
        events = [event_of(text) for text in (pair.premise, pair.hypothesis)]
        if None in events:
            continue
        checked += 1
        assert (events[0] == events[1]) == (pair.label == "entailment"), pair
    assert checked > 20


PASSIVE = re.compile(r"The (\w+) (?:was|were) (\w+) by the (\w+)\.")
ACTIVE = re.compile(r"The (\w+) (\w+) the (\w+)\.")
PARTICIPLES = {"seen": "saw", "chosen": "chose"}
MUTUAL = {"married", "met"}  # what two do to each other


def event_of(text: str) -> tuple[str, ...] | None:
    """Returns who does what to whom in a plain active or passive sentence."""
    passive = PASSIVE.fullmatch(text)
    if passive is not None:
        patient, verb, agent = passive.groups()
        return agent, PARTICIPLES.get(verb, verb), patient
    active = ACTIVE.fullmatch(text)
    if active is None or active[2] in MUTUAL:
        return None
    return active.groups()
