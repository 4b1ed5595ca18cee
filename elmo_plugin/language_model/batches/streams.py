"""Shuffled sentences in endless rows, cut into windows for truncated back-propagation."""

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from elmo_plugin.language_model.batches.windows import (
    IndexedCorpus,
    StreamLayout,
    Window,
    append_to_rows,
    sentences_in_a_row,
)
from elmo_plugin.language_model.corpus.chunks import CorpusChunk


def training_windows(
    corpus: IndexedCorpus, layout: StreamLayout, seed: int, epoch: int, first: int = 0
) -> Iterator[tuple[Window, Window, bool]]:
    """
    Yields the windows of both directions, each over streams of its own, and whether the streams start with
    them. The parameters are those of `stream_windows`.
    """
    forward, backward = (
        stream_windows(corpus, layout, seed, epoch, reverse=reverse, first=first) for reverse in (False, True)
    )
    nothing = np.zeros((layout.batch_size, layout.unroll_steps), dtype=np.int32)
    run_out = Window(nothing, nothing, corpus.empty_table())
    for number, both in enumerate(zip_longest(forward, backward, fillvalue=run_out), start=first):
        yield *both, number == 0


def stream_windows(
    corpus: IndexedCorpus, layout: StreamLayout, seed: int, epoch: int, reverse: bool, first: int = 0
) -> Iterator[Window]:
    """
    Reads the text once in one direction, its chunks and the sentences of each in random order. Each row is a
    stream: when its sentence is over, the next one follows in the same row, and a sentence that does not end
    in a window continues in the same row of the next one. A sentence's first item is never a target, and its
    last never an input. The windows end when the rows of all processes have run out; then every sentence has
    been read once. There is nothing in a row that has run out.

    # Parameters

    seed, epoch : `int`
        Each seed, epoch and direction has an order of its own.
    reverse : `bool`
        Whether sentences are read backwards.
    first : `int`
        The number of the first window that is wanted. Those before it are skipped, which is quick.
    """
    steps, own = layout.unroll_steps, layout.own
    dealt = np.zeros(layout.rows, dtype=np.int64)  # the number of targets of each row so far
    done = first * steps  # and how many of them have been given in windows
    table = corpus.empty_table()
    rest = np.zeros((2, layout.batch_size, 0), dtype=np.int32)  # inputs and targets that have not
    for chunk, order in shuffled_chunks(corpus, seed, epoch, reverse=reverse):
        begins, ends, lengths = deal(np.diff(chunk.starts)[order] + 1, dealt)
        positions = dealt[own] - done
        dealt += lengths
        if dealt[own].max() <= done:
            continue
        sentences = np.concatenate(
            [order[begin:end] for begin, end in zip(begins[own], ends[own], strict=True)]
        )
        types = np.array(chunk.types)  # read from the file in its order, not in the shuffled one
        items = np.stack(sentences_in_a_row(types, chunk.starts, sentences, reverse=reverse))
        table, rest = corpus.type_table(chunk).concat(table, rest)
        rest = append_to_rows(rest, positions, items, lengths[own])
        whole = max(0, (dealt[own].min() - done) // steps)
        for start in range(0, whole * steps, steps):
            inputs, targets = rest[:, :, start : start + steps]
            yield Window(inputs, targets, table)
        done += whole * steps
        rest = rest[:, :, whole * steps :].copy()
    for start in range(0, dealt.max() - done, steps):
        window = rest[:, :, start : start + steps]
        inputs, targets = np.pad(window, ((0, 0), (0, 0), (0, steps - window.shape[2])))
        yield Window(inputs, targets, table)


def shuffled_chunks(
    corpus: IndexedCorpus, seed: int, epoch: int, reverse: bool
) -> Iterator[tuple[CorpusChunk, np.ndarray]]:
    """Yields the chunks in random order, with a random order of the sentences of each."""
    key = (seed, epoch, int(reverse))
    for index in np.random.default_rng(key).permutation(len(corpus.chunks)):
        chunk = corpus.open(index)
        # One more than the index: a key with a 0 at its end is the same as the key without it.
        yield chunk, np.random.default_rng((*key, index + 1)).permutation(len(chunk.starts) - 1)


def deal(lengths: np.ndarray, dealt: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Deals sentences of these `lengths` to rows, to each a run of consecutive sentences, so that all rows have
    the same number of targets in total, within about a sentence. `dealt`, shape (rows,), has the number that
    each row got before. Returns the first of each row's sentences, their end, and their targets, of shape
    (rows,).
    """
    ends = np.concatenate([[0], np.cumsum(lengths)])  # of no, one, two, ... sentences
    # What each row lacks, which in total is what there is to deal; times the number of rows, to be whole.
    wishes = dealt.sum() + ends[-1] - len(dealt) * dealt
    neediest_first = np.argsort(-wishes, kind="stable")
    wanted = np.maximum.accumulate(np.cumsum(wishes[neediest_first]))
    # The sentence's end that is nearest to where the wishes of the first row, two rows, ... end.
    middles = len(dealt) * (ends[:-1] + ends[1:])
    cuts = np.concatenate([[0], np.searchsorted(middles, 2 * wanted, side="right")])
    cuts[-1] = len(lengths)
    begin, end = np.empty((2, len(dealt)), dtype=np.int64)
    begin[neediest_first], end[neediest_first] = cuts[:-1], cuts[1:]
    return begin, end, ends[end] - ends[begin]
