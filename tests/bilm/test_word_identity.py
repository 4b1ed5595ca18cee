"""A word is its character ids: the vectors do not depend on which words came before, in any cache."""

import threading
from collections.abc import Iterator
from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.bilm import PRECISIONS, BiLm
from elmo_plugin.bilm.batching import add_words, find_words, number_words, sentence_lengths
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.bilm.word_cache import WordCache
from elmo_plugin.embedding import MemoryCache
from tests.bilm.paths import ComputePath, skip_if_not_here
from tests.conftest import at_most
from tests.small_bilm import loud_bilm

SLOTS = 8  # characters of a word, with its begin and its end, so that 6 bytes are read
CPU = torch.device("cpu")
Sentences = list[list[str]]


def small_bilm(capacity: int, precision: str = "float32") -> BiLm:
    bilm = loud_bilm(char_cnn={"max_characters_per_token": SLOTS}).eval().requires_grad_(False)
    bilm.precision = precision
    bilm.token_encoder.word_cache_size = capacity
    return bilm


def family() -> st.SearchStrategy[str]:
    """Words many of which are cut to the same bytes, in the middle of a character too."""
    beginnings = st.sampled_from(
        ["abcdef", "日本", "ßßß", "a\U0001f600b", "a", "ab", "<S>", "</S>"]
    )
    endings = st.sampled_from(["", "1", "2", "本", "語", "\ud800", "ü"])
    return st.builds(str.__add__, beginnings, endings)


batches = st.lists(
    st.lists(st.lists(family(), max_size=4), min_size=1, max_size=4), min_size=1, max_size=5
)


def expected(sentences: Sentences, precision: str = "float32") -> list[Tensor]:
    """Embeds each sentence with a biLM that stores no word and has seen none."""
    return [embedded_alone(tuple(sentence), precision) for sentence in sentences]


@cache
def embedded_alone(words: tuple[str, ...], precision: str) -> Tensor:
    return small_bilm(0, precision).embed([words])[0]


def assert_same(actual: list[Tensor], sentences: Sentences, precision: str = "float32") -> None:
    for vectors, each in zip(actual, expected(sentences, precision), strict=True):
        torch.testing.assert_close(vectors, each, atol=1e-5, rtol=1e-5)


def layers_of(bilm: BiLm, sentences: Sentences, **options: bool) -> Iterator[Tensor]:
    """Yields what `forward` returns for each sentence."""
    layers = bilm(bilm.character_ids(sentences), **options).layers
    for row, sentence in enumerate(sentences):
        yield layers[:, row, : len(sentence)]


@given(batches, st.integers(1, 6))
@at_most(40)
def test_embed_gives_each_word_its_own_vectors_whatever_was_embedded_before(
    sequence: list[Sentences], capacity: int
) -> None:
    bilm = small_bilm(capacity)
    for sentences in [*sequence, *reversed(sequence)]:
        assert_same(bilm.embed(sentences), sentences)


@pytest.mark.slow
@given(batches, st.integers(1, 6), st.booleans())
@at_most(40)
def test_forward_gives_each_word_its_own_vectors_whatever_was_embedded_before(
    sequence: list[Sentences], capacity: int, keep_state: bool
) -> None:
    bilm = small_bilm(capacity)
    for sentences in [*sequence, *reversed(sequence)]:
        assert_same(list(layers_of(bilm, sentences, keep_state=keep_state)), sentences)


@pytest.mark.slow
@given(batches, st.integers(1, 6))
@at_most(20)
def test_a_cache_of_sentences_gives_each_word_its_own_vectors(
    sequence: list[Sentences], capacity: int
) -> None:
    bilm = small_bilm(capacity)
    cache = MemoryCache(max_gb=1e-5)  # room for a few sentences
    for sentences in [*sequence, *reversed(sequence)]:
        assert_same(bilm.embed(sentences, cache=cache), sentences)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_each_precision_keeps_colliding_words_apart(precision: str) -> None:
    skip_if_not_here(ComputePath("token encoder", precision, "cpu", 0.0))
    bilm = small_bilm(3, precision)
    sequence = [[["abcdef1", "abcdef2", "cat"]], [["dog"]], [["cat"]], [["dog", "cat", "abcdef"]]]
    for sentences in sequence:
        actual = bilm.embed(sentences)
        tolerance = 1e-5 if precision == "float32" else 0.02
        for vectors, each in zip(actual, expected(sentences, precision), strict=True):
            assert (vectors - each).abs().max() <= tolerance * each.abs().max()


@pytest.mark.slow
def test_threads_that_share_a_bilm_get_the_vectors_of_their_own_words() -> None:
    bilm = small_bilm(5)
    texts = {
        name: [[f"{name}bcdef1", f"{name}bcdef2", "cat"], [name, "dog"]] for name in ("x", "y", "z")
    }
    right = {name: expected(sentences) for name, sentences in texts.items()}
    wrong: list[str] = []

    def embed_often(name: str) -> None:
        for _ in range(20):
            for vectors, each in zip(bilm.embed(texts[name]), right[name], strict=True):
                if not torch.allclose(vectors, each, atol=1e-5):
                    wrong.append(name)

    threads = [threading.Thread(target=embed_often, args=(name,)) for name in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(st.lists(st.lists(family(), max_size=4), min_size=1, max_size=4))
def test_texts_and_character_ids_get_the_same_word_numbers(sentences: Sentences) -> None:
    by_text = number_words(sentences, SLOTS, CPU)
    bilm = small_bilm(0)
    ids = bilm.character_ids(sentences)
    by_ids = find_words(ids, sentence_lengths(ids, SLOTS))
    for batch in (by_text, by_ids):
        rows = {tuple(row) for row in batch.character_ids.tolist()}
        assert len(rows) == len(batch.character_ids), "each word is there once"
        for sentence, numbers in zip(sentences, batch.word_ids.tolist(), strict=True):
            for word, number in zip(sentence, numbers, strict=False):
                expected_ids = word_to_character_ids(word, SLOTS).tolist()
                assert batch.character_ids[number].tolist() == expected_ids


def test_a_word_already_in_the_cache_is_not_added_again() -> None:
    words = torch.tensor([[1, 2], [3, 4]], dtype=torch.int16)
    added, numbers = add_words(words, torch.tensor([[3, 4], [5, 6]]))
    assert added.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert numbers == [1, 2]


def test_the_word_cache_refuses_words_that_are_not_distinct() -> None:
    with pytest.raises(ValueError, match="expected distinct words"):
        WordCache(3).look_up(torch.zeros(2, 4, dtype=torch.int16), lambda words: words.float())
