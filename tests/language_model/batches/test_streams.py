from collections import Counter
from itertools import chain, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_plugin.language_model.batches.streams import deal, stream_windows
from elmo_plugin.language_model.batches.windows import IndexedCorpus, StreamLayout, Window
from tests.language_model.in_memory import (
    LENGTHS,
    Pairs,
    distinct_words,
    in_memory,
    pairs_in_rows,
    pairs_of,
)

NOTHING = ("", "")
BATCH_SIZES = st.integers(1, 4)
STEPS = st.integers(1, 11)


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


@given(LENGTHS, BATCH_SIZES, STEPS)
def test_windows_go_on_as_long_as_a_row_does(lengths, batch_size, steps) -> None:
    text = in_memory(distinct_words(lengths))
    windows = _windows(text, StreamLayout(batch_size, steps), False)
    assert all(inputs.shape == targets.shape == (batch_size, steps) for inputs, targets, _ in windows)
    assert windows[-1].inputs.any()


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


def test_chunks_that_are_skipped_are_not_read() -> None:
    text = in_memory(distinct_words([[4] * 20] * 5))
    opened = []

    class Watched(IndexedCorpus):
        def type_table(self, chunk):
            opened.append(chunk)
            return super().type_table(chunk)

    watched = Watched(text.chunks, text.numbers, text.unknown, text.max_characters)
    _windows(watched, StreamLayout(2, 10), False, first=24)
    assert len(opened) == 1


@given(st.lists(st.lists(st.integers(1, 30), max_size=40), max_size=12), st.integers(1, 9))
def test_rows_get_the_same_to_within_about_a_sentence(chunks, num_rows) -> None:
    dealt = np.zeros(num_rows, dtype=np.int64)
    for lengths in map(np.array, chunks):
        begins, ends, shares = deal(lengths.astype(int), dealt)
        assert sorted(chain.from_iterable(map(range, begins, ends))) == list(range(len(lengths)))
        assert shares.tolist() == [lengths[begin:end].sum() for begin, end in zip(begins, ends, strict=True)]
        dealt += shares
    longest = max(chain.from_iterable(chunks), default=0)
    assert abs(dealt - dealt.mean()).max() <= 1.5 * longest


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


def test_a_chunk_is_read_to_its_end_before_the_next_begins() -> None:
    text = in_memory(distinct_words([[2] * 30, [2] * 30, [2] * 30]))
    for row in _rows(text, StreamLayout(3, 5), False):
        chunks = [target[0] for _, target in row if target not in ("", "</S>")]
        assert len(chunks) == 60
        assert sum(before != after for before, after in pairwise(chunks)) == 2
