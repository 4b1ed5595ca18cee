"""spaCy's rules with a few of our own."""

import pickle

import pytest

from elmo_plugin.common.spacy_rules import SpacyRules

pytest.importorskip("spacy")


def test_rules_split_in_the_same_way_after_pickling() -> None:
    rules = SpacyRules("en", "sentencizer")
    text = "He left--at 3 p.m.--again. Don't."
    expected = rules.sentences(text)
    assert [word.text for word in expected[1]] == ["Do", "n't", "."]
    restored = pickle.loads(pickle.dumps(rules))
    assert restored.sentences(text) == expected
