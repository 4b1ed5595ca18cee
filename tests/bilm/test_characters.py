from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from allennlp.data.token_indexers.elmo_indexer import ELMoCharacterMapper
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm.characters import sentences_to_character_ids, word_to_character_ids
from elmo_plugin.bilm.inputs import as_words
from elmo_plugin.common.errors import BiLmError


@given(st.text(st.characters(exclude_categories=())))
def test_any_word_gets_allennlps_ids(word: str) -> None:
    expected = ELMoCharacterMapper().convert_word_to_char_ids(word)
    assert word_to_character_ids(word).tolist() == expected


@given(st.text(), st.integers(min_value=3, max_value=60))
def test_words_are_cut_to_the_character_limit_and_enclosed_in_boundaries(
    word: str, slots: int
) -> None:
    if word in ("<S>", "</S>"):
        return
    ids = word_to_character_ids(word, slots)
    kept = word.encode("utf-8", "ignore")[: slots - 2]
    assert ids.tolist() == [
        259,
        *(byte + 1 for byte in kept),
        260,
        *[261] * (slots - 2 - len(kept)),
    ]


def test_shorter_sentences_are_padded_with_zeros_at_the_end() -> None:
    ids = sentences_to_character_ids([["a", "b"], [], ["c"]])
    assert ids.shape == (3, 2, 50)
    assert np.array_equal(ids[2], [word_to_character_ids("c"), np.zeros(50)])
    assert not ids[1].any()


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (
            "the cat",
            "sentences: expected a list of lists of words, got 'the cat': split it, or use",
        ),
        (
            ["the", "cat"],
            r"sentences\[0\]: expected a list of words, got 'the': put the words of a sentence in",
        ),
        ([["a"], ["the", 3]], r"sentences\[1\]\[1\]: expected a word, got 3"),
        ([["a"], [["b"]]], r"sentences\[1\]\[0\]: expected a word, got \['b'\]"),
        ([{"a": 1}], r"sentences\[0\]: expected a list of words, got dict"),
        ([{"a"}], r"sentences\[0\]: expected a list of words, got set"),
        ([None], r"sentences\[0\]: expected a list of words, got None"),
        (np.array("cat"), r"sentences: expected a list of lists of words, got array\('cat'"),
        (3, "sentences: expected a list of lists of words, got 3"),
    ],
)
def test_a_string_in_place_of_a_list_of_words_is_refused(sentences: Any, message: str) -> None:
    with pytest.raises(BiLmError, match=message):
        sentences_to_character_ids(sentences)


def test_words_are_strings_or_tokens_in_any_ordered_collection() -> None:
    token = SimpleNamespace(text="b")
    for sentence in (("a", "b"), iter(["a", token]), np.array(["a", "b"]), deque(["a", token])):
        assert as_words(sentence, "sentence") == ["a", "b"]
