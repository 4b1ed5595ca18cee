"""Windows over text: shuffled sentences in endless rows, for truncated back-propagation."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from elmo_plugin.language_model.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    ChunkFiles,
    IndexedCorpus,
)
from elmo_plugin.language_model.corpus import Corpus


class StreamLayout(NamedTuple):
    """How text is divided into the rows of all processes, and into windows."""

    batch_size: int  # the rows of each process
    unroll_steps: int  # the time steps in a window
    process: int = 0  # its index
    processes: int = 1

    @property
    def rows(self) -> int:
        """The number of rows of all processes."""
        return self.batch_size * self.processes

    @property
    def own(self) -> slice:
        """The rows of this process, among the rows of all."""
        return slice(self.process * self.batch_size, (self.process + 1) * self.batch_size)


def batch_arrays(corpus: IndexedCorpus, windows: np.ndarray) -> dict[str, np.ndarray]:
    """
    Returns the batch of the windows of both directions, shape (directions, 2, batch, time): the
    types that are read and predicted. It has `character_ids` of the unique inputs, shape (types,
    max_characters); `forward_types` and `backward_types`, the types read at each place, and
    `forward_targets` and `backward_targets`, the vocabulary's numbers of the words that follow, all
    of shape (batch, time).
    """
    inputs = windows[:, 0]
    _, examples, types = np.unique(corpus.hashes[inputs], return_index=True, return_inverse=True)
    forward_types, backward_types = types.reshape(inputs.shape)
    forward_targets, backward_targets = corpus.numbers[windows[:, 1]]
    return {
        "character_ids": corpus.character_ids[inputs.ravel()[examples]],
        "forward_types": forward_types,
        "forward_targets": forward_targets,
        "backward_types": backward_types,
        "backward_targets": backward_targets,
    }


def training_windows(
    corpus: IndexedCorpus,
    layout: StreamLayout,
    block_words: int,
    seed: int,
    epoch: int,
    first: int = 0,
) -> Iterator[tuple[np.ndarray, bool]]:
    """
    Yields the windows of both directions, each over its streams, from the window with index `first`
    on, and whether the state starts at zero with them, as it does every `block_words` words: a biLM
    that never reads from zero learns states that are thousands of words away.
    """
    windows_per_block = max(1, block_words // layout.unroll_steps)
    directions = [
        stream_windows(corpus, layout, (seed, epoch, reverse), first) for reverse in (0, 1)
    ]
    run_out = np.zeros((2, layout.batch_size, layout.unroll_steps), dtype=np.int32)
    for index, windows in enumerate(zip_longest(*directions, fillvalue=run_out), start=first):
        yield np.stack(windows), index % windows_per_block == 0


def count_training_windows(corpus: Corpus, layout: StreamLayout, seed: int, epoch: int) -> int:
    """Returns the number of windows in an epoch, until all rows of both directions have run out."""
    longest = 0
    for reverse in (0, 1):
        for _, _, assigned, lengths in _assigned(
            corpus.chunks, layout.rows, (seed, epoch, reverse)
        ):
            longest = max(longest, (assigned + lengths).max())
    return -(-longest // layout.unroll_steps)


def stream_windows(
    corpus: IndexedCorpus, layout: StreamLayout, key: tuple[int, int, int], first: int = 0
) -> Iterator[np.ndarray]:
    """
    Reads the text once in one direction, its chunks and the sentences of each in a random order
    that depends on the key: the seed, the epoch and whether it is backward. Each row is a stream:
    when its sentence is over, the next one follows in the same row, and a sentence that does not
    end in a window continues in the next one. A sentence's first item is never a target, and its
    last never an input. The windows end when the rows of all processes have run out; then every
    sentence has been read once. A row that has run out is empty.

    Yields inputs and targets, shape (2, batch, time). Skips the windows before `first` (quickly).
    """
    steps, own = layout.unroll_steps, layout.own
    done = first * steps  # the number of targets of each row that have been yielded or skipped
    rest = np.zeros((2, layout.batch_size, 0), dtype=np.int32)  # inputs and targets that have not
    targets = np.zeros(layout.rows, dtype=np.int64)  # of each row so far
    for index, sentences, assigned, lengths in _assigned(corpus.chunks, layout.rows, key):
        targets = assigned + lengths
        if targets[own].max() <= done:
            continue
        types, starts = corpus.open(index)
        items = flatten_sentences(
            types, starts, np.concatenate(sentences[own]), reverse=bool(key[2])
        )
        rest = append_to_rows(rest, assigned[own] - done, np.stack(items), lengths[own])
        whole = max(0, (targets[own].min() - done) // steps)
        for start in range(0, whole * steps, steps):
            yield rest[:, :, start : start + steps]
        done += whole * steps
        rest = rest[:, :, whole * steps :].copy()
    for start in range(0, targets.max() - done, steps):
        window = rest[:, :, start : start + steps]
        yield np.pad(window, ((0, 0), (0, 0), (0, steps - window.shape[2])))


def _assigned(
    chunks: Sequence[ChunkFiles], num_rows: int, key: tuple[int, int, int]
) -> Iterator[tuple[int, list[np.ndarray], np.ndarray, np.ndarray]]:
    """
    Yields the chunks in random order: the index, the numbers of each row's sentences, the number of
    targets that each row had before, and those that it gets.
    """
    assigned = np.zeros(num_rows, dtype=np.int64)
    for index in np.random.default_rng(key).permutation(len(chunks)):
        (starts,) = chunks[index].read("starts")
        # One more than the index: a key with a 0 at its end is the same as the key without it.
        order = np.random.default_rng((*key, index + 1)).permutation(len(starts) - 1)
        begins, ends, lengths = assign_sentences(np.diff(starts)[order] + 1, assigned)
        yield (
            index,
            [order[begin:end] for begin, end in zip(begins, ends, strict=True)],
            assigned,
            lengths,
        )
        assigned = assigned + lengths


def assign_sentences(
    lengths: np.ndarray, assigned: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Assigns sentences of these `lengths` to rows, a run of consecutive sentences to each, so that
    all rows have the same number of targets in total, within about a sentence. `assigned` counts
    the words of each row so far. Returns the first of each row's sentences, their end, and their
    targets, all of shape (rows,).
    """
    ends = np.concatenate([[0], np.cumsum(lengths)])  # of no, one, two, ... sentences
    # The deficit of each row, in total the sum of `lengths`; times the number of rows, to be whole.
    deficits = assigned.sum() + ends[-1] - len(assigned) * assigned
    rows_by_deficit = np.argsort(-deficits, kind="stable")
    wanted = np.maximum.accumulate(np.cumsum(deficits[rows_by_deficit]))
    # The sentence's end nearest to the place at which the deficits of the first row, two rows, ...
    # end.
    middles = len(assigned) * (ends[:-1] + ends[1:])
    cuts = np.concatenate([[0], np.searchsorted(middles, 2 * wanted, side="right")])
    cuts[-1] = len(lengths)
    begin, end = np.empty((2, len(assigned)), dtype=np.int64)
    begin[rows_by_deficit], end[rows_by_deficit] = cuts[:-1], cuts[1:]
    return begin, end, ends[end] - ends[begin]


def flatten_sentences(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    Returns the inputs and targets in the given sentences of a text, one after another: `<S> w_1 ...
    w_n` and `w_1 ... w_n </S>`, or with `reverse` `</S> w_n ... w_1` and `w_n ... w_1 <S>`. Both
    have the shape (words + sentences,), int32. `types` and `starts` are as `IndexedCorpus.open`
    returns them.
    """
    first, last = BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE
    begins, ends = starts[sentences], starts[sentences + 1]
    lengths = ends - begins + 1
    after = np.cumsum(lengths)  # where, in the inputs, the next sentence begins
    places = np.arange(lengths.sum())  # in the inputs, and from here on in `types`
    if reverse:
        first, last = last, first
        places = np.repeat(ends + after - lengths, lengths) - places
    else:
        places -= np.repeat(after - ends, lengths)
    places[after - lengths] = 0  # any place in the text: here is the sentence's boundary
    inputs = types[places].astype(np.int32)
    inputs[after - lengths] = first
    targets = np.empty_like(inputs)
    targets[:-1] = inputs[1:]
    targets[after - 1] = last
    return inputs, targets


def append_to_rows(
    rows: np.ndarray, positions: np.ndarray, items: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """
    Appends the next `lengths[i]` of `items`, shape (any, sum of lengths), to row i of `rows`, shape
    (any, rows, width), ending at `positions[i]`; a negative position skips that many of its items.
    The result, int32, is as wide as its longest row, with zeros after the others.
    """
    width = max(rows.shape[2], (positions + lengths).max())
    longer = np.zeros((*rows.shape[:2], width), dtype=np.int32)
    longer[:, :, : rows.shape[2]] = rows
    begins = np.cumsum(lengths) - lengths
    for row, (position, begin, length) in enumerate(zip(positions, begins, lengths, strict=True)):
        skipped = min(length, max(0, -position))
        position += skipped
        longer[:, row, position : position + length - skipped] = items[
            :, begin + skipped : begin + length
        ]
    return longer
