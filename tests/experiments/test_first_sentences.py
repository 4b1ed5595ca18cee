"""The first sentences of `experiments/bundled`, and what counts as right."""

import importlib
import json
from types import ModuleType
from typing import Any

import pytest

from elmo_plugin.common.bundled import archive_path
from tests.conftest import REPOSITORY

BUNDLED = REPOSITORY / "experiments" / "bundled"


@pytest.fixture
def score() -> ModuleType:
    return importlib.import_module("first_sentences.score")


@pytest.mark.parametrize(("kept", "count"), [(False, 473), (True, 279)])
def test_each_first_sentence_has_an_expected_output(
    score: ModuleType, kept: bool, count: int
) -> None:
    examples = [
        (example, key)
        for name, (key, _) in score.CHECKS.items()
        for example in score.read(name, kept)
    ]
    assert len(examples) == count and all(key in example for example, key in examples)


def test_no_sentence_is_in_both_parts(score: ModuleType) -> None:
    for name, (key, _) in score.CHECKS.items():
        seen, kept = (
            {inputs_of(example, key) for example in score.read(name, kept)}
            for kept in (False, True)
        )
        assert seen.isdisjoint(kept)


def inputs_of(example: dict[str, Any], key: str) -> str:
    return json.dumps(
        {each: text for each, text in example.items() if each not in ("kind", key)}
    ).lower()


@pytest.mark.parametrize(
    ("name", "output", "expected", "is_right"),
    [
        ("ner", {"entities": [{"type": "PER", "text": "Dr . Ann"}]}, [["PER", "Dr. Ann"]], True),
        ("ner", {"entities": [{"type": "LOC", "text": "Ann"}]}, [["PER", "Ann"]], False),
        ("ner", {"entities": [{"type": "MISC", "text": "May"}]}, [], True),
        ("ner", {"entities": [{"type": "ORG", "text": "May"}]}, [], False),
        ("sst", {"label": "very negative"}, "negative", True),
        ("sst", {"label": "neutral"}, "negative", False),
        ("snli", {"label": "neutral"}, "entailment", False),
        ("coref", {"clusters": [[{"text": "Ann"}, {"text": "she"}]]}, [["Ann", "she"]], True),
        ("coref", {"clusters": [[{"text": "Ann"}, {"text": "she"}]]}, [], False),
        ("squad", {"answer": "in 1883 ."}, ["1883", "in 1883"], True),
        ("squad", {"answer": "the bridge"}, ["1883"], False),
    ],
)
def test_right_and_wrong_outputs_are_distinguished(
    score: ModuleType, name: str, output: Any, expected: Any, is_right: bool
) -> None:
    assert score.CHECKS[name][1](output, expected) is is_right


def test_a_missing_role_or_an_extra_predicate_is_wrong(score: ModuleType) -> None:
    def frame(predicate: str, **roles: str) -> dict[str, Any]:
        return {
            "predicate": predicate,
            "roles": [{"role": role, "text": text} for role, text in roles.items()],
        }

    expected = {"ate": {"ARG0": "Ann", "ARG1": "an apple"}}
    ate = frame("ate", ARG0="Ann", ARG1="an apple", ARGMTMP="today")
    is_right = score.CHECKS["srl"][1]
    assert is_right({"frames": [ate, frame("has")]}, expected)
    assert not is_right({"frames": [ate, frame("apple")]}, expected)
    assert not is_right({"frames": [frame("ate", ARG0="Ann")]}, expected)
    assert not is_right({"frames": []}, expected)


@pytest.mark.slow
def test_an_archive_of_semantic_roles_is_scored_with_the_tagger_of_predicates(
    score: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = {
        "sentence": "The boy kicked the ball.",
        "frames": {"kicked": {"ARG0": "The boy", "ARG1": "the ball"}},
    }
    monkeypatch.setattr(score, "read", lambda name, kept: [example])
    assert score.wrong("srl", score.load("srl", archive_path("srl"))) == []
