"""Shuffled sentences in endless rows side by side, cut into windows for truncated back-propagation."""

from collections.abc import Iterator

import numpy as np

from elmo_plugin.language_model.batches.windows import Rows, Text, Window, sentences_in_a_row
from elmo_plugin.language_model.corpus.chunks import Piece


def stream_windows(
    text: Text,
    rows: Rows,
    unroll_steps: int,
    seed: int,
    number: int,
    reverse: bool,
    first: int = 0,
) -> Iterator[Window]:
    """
    One direction's pass over the text, with the pieces and the sentences of each in random order. Each row is
    a stream: when its sentence is over, the next one follows in the same row, and a sentence that does not
    end in a window goes on in the same row of the next one. A sentence's first item is never a target, and
    its last never an input.

    # Parameters

    text : `Text`
    rows : `Rows`
    unroll_steps : `int`
        The number of time steps in a window.
    seed, number : `int`
        The order is another one for another seed, for a pass of another number, and for the other direction.
    reverse : `bool`
        Whether sentences are read backwards.
    first : `int`
        The number of the first window that is wanted. Those before it are passed over, which is quick.

    # Returns

    `Iterator[Window]`
        Until the rows of all processes have run out; then every sentence has been read once. There is nothing
        in a row that has run out.
    """
    dealt = np.zeros(rows.total, dtype=np.int64)  # how many targets each row has got so far
    done = first * unroll_steps  # and how many of them have been given in windows
    words = text.no_words()
    rest = np.zeros((2, rows.batch_size, 0), dtype=np.int32)  # inputs and targets that have not
    for piece, order in shuffled_pieces(text, seed, number, reverse):
        begins, ends, shares = deal(np.diff(piece.starts)[order] + 1, dealt)
        positions = dealt[rows.own] - done
        dealt += shares
        if dealt[rows.own].max() <= done:
            continue
        sentences = np.concatenate(
            [order[begin:end] for begin, end in zip(begins[rows.own], ends[rows.own], strict=True)]
        )
        types = np.array(piece.types)  # read from the file in its order, not in the shuffled one
        read = np.stack(sentences_in_a_row(types, piece.starts, sentences, reverse))
        words, rest = text.words(piece).joined(words, rest)
        rest = appended(rest, positions, read, shares[rows.own])
        whole = max(0, (dealt[rows.own].min() - done) // unroll_steps)
        for start in range(0, whole * unroll_steps, unroll_steps):
            inputs, targets = rest[:, :, start : start + unroll_steps]
            yield Window(inputs, targets, words)
        done += whole * unroll_steps
        rest = rest[:, :, whole * unroll_steps :].copy()
    for start in range(0, dealt.max() - done, unroll_steps):
        window = rest[:, :, start : start + unroll_steps]
        nothing = ((0, 0), (0, 0), (0, unroll_steps - window.shape[2]))
        inputs, targets = np.pad(window, nothing)
        yield Window(inputs, targets, words)


def shuffled_pieces(text: Text, seed: int, number: int, reverse: bool) -> Iterator[tuple[Piece, np.ndarray]]:
    """The pieces in random order, with a random order of the sentences of each."""
    key = (seed, number, int(reverse))
    for index in np.random.default_rng(key).permutation(len(text.pieces)):
        piece = text.open(index)
        # One more than the index: a key with a 0 at its end is the same as the key without it.
        yield piece, np.random.default_rng((*key, index + 1)).permutation(len(piece.starts) - 1)


def deal(lengths: np.ndarray, dealt: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Deals sentences to rows, to each a run of sentences that follow one another, so that all rows have got as
    much as the others: what they have more or less than others is never more than about a sentence.

    # Parameters

    lengths : `numpy.ndarray`
        Shape (sentences,), the targets in each.
    dealt : `numpy.ndarray`
        Shape (rows,), the targets that each row has got before.

    # Returns

    `tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]`
        Shape (rows,): the first of each row's sentences, the end of them, and the targets in them.
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


def appended(rest: np.ndarray, positions: np.ndarray, read: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """
    # Parameters

    rest : `numpy.ndarray`
        Shape (2, rows, width), int32, zeros behind the end of each row.
    positions : `numpy.ndarray`
        Shape (rows,), where each row ends. Negative where that much of what follows is to be left out.
    read : `numpy.ndarray`
        Shape (2, any length), what follows in each row, one row's after the other's.
    lengths : `numpy.ndarray`
        Shape (rows,), how much follows in each row.

    # Returns

    `numpy.ndarray`
        Shape (2, rows, as wide as the longest row), int32, zeros behind the end of each row.
    """
    rows = np.zeros((2, len(positions), (positions + lengths).max()), dtype=np.int32)
    rows[:, :, : rest.shape[2]] = rest
    start = 0
    for row, (position, length) in enumerate(zip(positions.tolist(), lengths.tolist(), strict=True)):
        left_out = min(length, max(0, -position))
        position = max(0, position)
        rows[:, row, position : position + length - left_out] = read[:, start + left_out : start + length]
        start += length
    return rows
