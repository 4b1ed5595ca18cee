from collections import Counter
from itertools import chain, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.windows import (
    StreamLayout,
    Window,
    assign_sentences,
    batch_arrays,
    flatten_sentences,
    stream_windows,
)
from tests.language_model.in_memory import LENGTHS, Pairs, distinct_words, in_memory, pairs_in_rows, pairs_of

NOTHING = ("", "")
BATCH_SIZES = st.integers(1, 4)
STEPS = st.integers(1, 11)
SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), min_size=1, max_size=8)


@given(SENTENCES, st.randoms(), st.booleans())
def test_each_word_of_the_chosen_sentences_predicts_the_next_one(sentences, random, reverse) -> None:
    chunk = in_memory([sentences]).open(0)
    chosen = random.choices(range(len(sentences)), k=random.randrange(6))
    inputs, targets = flatten_sentences(chunk.types, chunk.starts, np.array(chosen, dtype=int), reverse)
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


def _windows(
    text: IndexedCorpus, layout: StreamLayout, reverse: bool, first: int = 0, **order
) -> list[Window]:
    order = {"seed": 5, "epoch": 0, **order}
    return list(stream_windows(text, layout, reverse=reverse, first=first, **order))


def _rows(text: IndexedCorpus, layout: StreamLayout, reverse: bool, **options) -> list[Pairs]:
    return pairs_in_rows(_windows(text, layout, reverse, **options), text)


def _sentences(row: Pairs, reverse: bool) -> list[Pairs]:
    """The row without the empty places behind its end, cut before each item that begins a sentence."""
    read = [pair for pair in row if pair != NOTHING]
    assert read == row[: len(read)], "a row that has run out stays empty"
    starts = [place for place, (word, _) in enumerate(read) if word == ("</S>" if reverse else "<S>")]
    assert not read or starts[0] == 0
    return [read[start:end] for start, end in pairwise([*starts, len(read)])]


@given(LENGTHS, BATCH_SIZES, STEPS, st.booleans())
def test_the_rows_are_whole_sentences_one_after_another_and_all_of_them_once(
    lengths, batch_size, steps, reverse
) -> None:
    chunks = distinct_words(lengths)
    rows = _rows(in_memory(chunks), StreamLayout(batch_size, steps), reverse)
    read = [sentence for row in rows for sentence in _sentences(row, reverse)]
    assert sorted(read) == sorted(pairs_of(sentence, reverse) for sentence in chain.from_iterable(chunks))


@settings(max_examples=60)
@given(LENGTHS, BATCH_SIZES, STEPS, st.booleans(), st.integers(1, 3))
def test_processes_together_read_what_one_reads_with_all_their_rows(
    lengths, batch_size, steps, reverse, processes
) -> None:
    text = in_memory(distinct_words(lengths))
    together = _rows(text, StreamLayout(batch_size * processes, steps), reverse)
    apart = [
        _rows(text, StreamLayout(batch_size, steps, process, processes), reverse)
        for process in range(processes)
    ]
    assert list(chain.from_iterable(apart)) == together


@settings(max_examples=60)
@given(LENGTHS, BATCH_SIZES, STEPS, st.booleans(), st.data())
def test_the_first_windows_can_be_passed_over(lengths, batch_size, steps, reverse, data) -> None:
    text = in_memory(distinct_words(lengths))
    layout = StreamLayout(batch_size, steps, data.draw(st.integers(0, 1)), 2)
    whole = _windows(text, layout, reverse)
    first = data.draw(st.integers(0, len(whole)))
    rest = _windows(text, layout, reverse, first=first)
    assert len(rest) == len(whole) - first
    if rest:
        assert pairs_in_rows(rest, text) == pairs_in_rows(whole[first:], text)


@given(st.lists(st.lists(st.integers(1, 30), max_size=40), max_size=12), st.integers(1, 9))
def test_rows_get_the_same_to_within_about_a_sentence(chunks, num_rows) -> None:
    assigned = np.zeros(num_rows, dtype=np.int64)
    for lengths in map(np.array, chunks):
        begins, ends, shares = assign_sentences(lengths.astype(int), assigned)
        assert sorted(chain.from_iterable(map(range, begins, ends))) == list(range(len(lengths)))
        assert shares.tolist() == [lengths[begin:end].sum() for begin, end in zip(begins, ends, strict=True)]
        assigned += shares
    longest = max(chain.from_iterable(chunks), default=0)
    assert abs(assigned - assigned.mean()).max() <= 1.5 * longest


def test_orders_differ_by_seed_and_pass_and_direction() -> None:
    chunks = distinct_words([[1] * 30, [1] * 40])
    text = in_memory(chunks)
    (forward,) = _rows(text, StreamLayout(1, 7), False)
    (backward,) = _rows(text, StreamLayout(1, 7), True)
    orders = [
        *(_rows(text, StreamLayout(1, 7), False, seed=seed)[0] for seed in (5, 6)),
        _rows(text, StreamLayout(1, 7), False, epoch=1)[0],
        [pair for sentence in _sentences(backward, True) for pair in pairs_of([sentence[0][1]], False)],
        [pair for sentence in chain.from_iterable(chunks) for pair in pairs_of(sentence, False)],
    ]
    orders = [[pair for pair in order if pair != NOTHING] for order in orders]
    assert orders[0] == [pair for pair in forward if pair != NOTHING], "the same seed gives the same order"
    assert all(Counter(order) == Counter(orders[0]) for order in orders)
    assert len(set(map(tuple, orders))) == len(orders)
