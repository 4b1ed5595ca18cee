from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.language_model.batches.windows import StreamLayout, Window, batch_arrays, sentences_in_a_row
from tests.language_model.in_memory import in_memory, pairs_of

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), min_size=1, max_size=8)


@given(SENTENCES, st.randoms(), st.booleans())
def test_each_word_of_the_chosen_sentences_predicts_the_next_one(sentences, random, reverse) -> None:
    chunk = in_memory([sentences]).open(0)
    chosen = random.choices(range(len(sentences)), k=random.randrange(6))
    inputs, targets = sentences_in_a_row(chunk.types, chunk.starts, np.array(chosen, dtype=int), reverse)
    pairs = [(chunk.words[word], chunk.words[after]) for word, after in zip(inputs, targets, strict=True)]
    assert pairs == [pair for number in chosen for pair in pairs_of(sentences[number], reverse)]


@given(SENTENCES, SENTENCES, st.data())
def test_joined_words_mean_what_they_meant(first, second, data) -> None:
    text = in_memory([first, second])
    ours, others = (text.type_table(text.open(number)) for number in (0, 1))
    types = np.array(data.draw(st.lists(st.integers(0, len(others.hashes) - 1))), dtype=int)
    joined, renumbered = ours.concat(others, types)
    for mine, theirs, both in zip(ours, others, joined, strict=True):
        assert (both[: len(mine)] == mine).all()
        assert (both[renumbered] == theirs[types]).all()
    assert len(joined.hashes) <= len(ours.hashes) + len(set(types.tolist()))


def test_a_batch_has_the_words_of_both_directions_once_though_they_are_from_different_chunks() -> None:
    text = in_memory([[["the", "cat", "sat"]], [["a", "dog", "sat"]]])
    forward, backward = (text.type_table(text.open(number)) for number in (0, 1))
    batch = batch_arrays(
        Window(np.array([[1, 3, 4], [0, 5, 0]]), np.array([[3, 4, 5], [0, 2, 0]]), forward),
        Window(np.array([[2, 5, 4], [5, 0, 0]]), np.array([[5, 4, 3], [1, 0, 0]]), backward),
    )
    words = ["", "<S>", "</S>", "the", "cat", "sat", "dog"]
    spelled = [np.zeros(12, int), *(word_to_character_ids(word, 12) for word in words[1:])]
    order = [words.index(word) for word in _words(batch["character_ids"], words, spelled)]
    assert sorted(order) == list(range(7))
    assert np.array(order)[batch["forward_types"]].tolist() == [[1, 3, 4], [0, 5, 0]]
    assert np.array(order)[batch["backward_types"]].tolist() == [[2, 5, 6], [5, 0, 0]]
    number = {**text.numbers, "": 0}
    assert batch["forward_targets"].tolist() == _numbers(number, [["the", "cat", "sat"], ["", "</S>", ""]])
    assert batch["backward_targets"].tolist() == _numbers(number, [["sat", "dog", "a"], ["<S>", "", ""]])
    assert batch["character_ids"].dtype == np.int16
    assert {array.dtype for name, array in batch.items() if name != "character_ids"} == {np.dtype(np.int64)}


def _words(character_ids: np.ndarray, words: list[str], spelled: list[np.ndarray]) -> list[str]:
    return [
        next(word for word, of_word in zip(words, spelled, strict=True) if (ids == of_word).all())
        for ids in character_ids
    ]


def _numbers(number: dict[str, int], words: list[list[str]]) -> list[list[int]]:
    return [[number[word] for word in row] for row in words]


def test_a_batch_without_empty_places_has_no_empty_word() -> None:
    text = in_memory([[["a", "b"]]])
    window = Window(np.array([[1, 3, 4]]), np.array([[3, 4, 2]]), text.type_table(text.open(0)))
    assert batch_arrays(window, window)["character_ids"].any(axis=1).all()


def test_the_rows_of_all_processes_are_all_rows() -> None:
    rows = [list(range(12))[StreamLayout(4, 1, process, 3).own] for process in range(3)]
    assert list(chain.from_iterable(rows)) == list(range(StreamLayout(4, 1, 0, 3).rows))
