"""Windows over text: shuffled sentences in endless rows, for truncated back-propagation."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from elmo_plugin.language_model.chunks import BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE, IndexedCorpus, TypeTable


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


class Window(NamedTuple):
    """The types that one direction reads and predicts, 0 for none, and their table."""

    inputs: np.ndarray  # Shape: (batch, time)
    targets: np.ndarray  # the next words, of the same shape
    table: TypeTable


def batch_arrays(forward: Window, backward: Window) -> dict[str, np.ndarray]:
    """
    Returns `character_ids` of the unique inputs of both windows, shape (types, max_characters);
    `forward_types` and `backward_types`, the types read at each place, and `forward_targets` and
    `backward_targets`, the vocabulary's numbers of the words that follow, all of shape (batch, time).
    """
    inputs = np.concatenate([forward.inputs.ravel(), backward.inputs.ravel()])
    split = forward.inputs.size
    hashes = np.concatenate([forward.table.hashes[inputs[:split]], backward.table.hashes[inputs[split:]]])
    _, examples, places = np.unique(hashes, return_index=True, return_inverse=True)
    is_forward = examples < split
    character_ids = np.empty((len(examples), forward.table.character_ids.shape[1]), dtype=np.int16)
    character_ids[is_forward] = forward.table.character_ids[inputs[examples[is_forward]]]
    character_ids[~is_forward] = backward.table.character_ids[inputs[examples[~is_forward]]]
    forward_types, backward_types = places.reshape(2, *forward.inputs.shape)
    return {
        "character_ids": character_ids,
        "forward_types": forward_types,
        "forward_targets": forward.table.numbers[forward.targets],
        "backward_types": backward_types,
        "backward_targets": backward.table.numbers[backward.targets],
    }


def training_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int, seed: int, epoch: int, first: int = 0
) -> Iterator[tuple[Window, Window, bool]]:
    """
    Yields the windows of both directions, each over its streams, from the window with index `first`
    on, and whether the state starts at zero with them, as it does every `block_words` words: a biLM that
    never reads from zero learns states that are thousands of words away.
    """
    windows_per_block = max(1, block_words // layout.unroll_steps)
    forward, backward = (
        stream_windows(corpus, layout, seed, epoch, reverse=reverse, first=first) for reverse in (False, True)
    )
    nothing = np.zeros((layout.batch_size, layout.unroll_steps), dtype=np.int32)
    run_out = Window(nothing, nothing, corpus.empty_table())
    for index, windows in enumerate(zip_longest(forward, backward, fillvalue=run_out), start=first):
        yield *windows, index % windows_per_block == 0


def stream_windows(
    corpus: IndexedCorpus, layout: StreamLayout, seed: int, epoch: int, reverse: bool, first: int = 0
) -> Iterator[Window]:
    """
    Reads the text once in one direction, its chunks and the sentences of each in a random order that depends
    on the seed, the epoch and the direction. Each row is a stream: when its sentence is over, the next one
    follows in the same row, and a sentence that does not end in a window continues in the next one. A
    sentence's first item is never a target, and its last never an input. The windows end when the rows of all
    processes have run out; then every sentence has been read once. A row that has run out is empty.

    Skips the windows before `first` (quickly).
    """
    steps, own = layout.unroll_steps, layout.own
    assigned = np.zeros(layout.rows, dtype=np.int64)  # the number of targets of each row so far
    done = first * steps  # the number of them that have been yielded or skipped
    table = corpus.empty_table()
    rest = np.zeros((2, layout.batch_size, 0), dtype=np.int32)  # inputs and targets that have not
    key = (seed, epoch, int(reverse))
    for index in np.random.default_rng(key).permutation(len(corpus.chunks)):
        chunk = corpus.open(index)
        # One more than the index: a key with a 0 at its end is the same as the key without it.
        order = np.random.default_rng((*key, index + 1)).permutation(len(chunk.starts) - 1)
        begins, ends, lengths = assign_sentences(np.diff(chunk.starts)[order] + 1, assigned)
        positions = assigned[own] - done
        assigned += lengths
        if assigned[own].max() <= done:
            continue
        sentences = np.concatenate(
            [order[begin:end] for begin, end in zip(begins[own], ends[own], strict=True)]
        )
        items = np.stack(flatten_sentences(chunk.types, chunk.starts, sentences, reverse=reverse))
        table, rest = corpus.type_table(chunk).concat(table, rest)
        rest = append_to_rows(rest, positions, items, lengths[own])
        whole = max(0, (assigned[own].min() - done) // steps)
        for start in range(0, whole * steps, steps):
            inputs, targets = rest[:, :, start : start + steps]
            yield Window(inputs, targets, table)
        done += whole * steps
        rest = rest[:, :, whole * steps :].copy()
    for start in range(0, assigned.max() - done, steps):
        window = rest[:, :, start : start + steps]
        inputs, targets = np.pad(window, ((0, 0), (0, 0), (0, steps - window.shape[2])))
        yield Window(inputs, targets, table)


def assign_sentences(lengths: np.ndarray, assigned: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Assigns sentences of these `lengths` to rows, a run of consecutive sentences to each, so that all rows
    have the same number of targets in total, within about a sentence. `assigned` counts the words of each row
    so far. Returns the first of each row's sentences, their end, and their targets, all of shape (rows,).
    """
    ends = np.concatenate([[0], np.cumsum(lengths)])  # of no, one, two, ... sentences
    # The deficit of each row, in total the sum of `lengths`; times the number of rows, to be whole.
    deficits = assigned.sum() + ends[-1] - len(assigned) * assigned
    rows_by_deficit = np.argsort(-deficits, kind="stable")
    wanted = np.maximum.accumulate(np.cumsum(deficits[rows_by_deficit]))
    # The sentence's end nearest to the place at which the deficits of the first row, two rows, ... end.
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
    Returns the inputs and targets in the given sentences of a text, one after another:
    `<S> w_1 ... w_n` and `w_1 ... w_n </S>`, or with `reverse` `</S> w_n ... w_1` and `w_n ... w_1 <S>`. Both
    have the shape (words + sentences,), int32. `types` and `starts` are as in a `CorpusChunk`.
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
    Appends the next `lengths[i]` of `items`, shape (any, sum of lengths), to row i of `rows`, shape (any,
    rows, width), ending at `positions[i]`; a negative position skips that many of its items. The result,
    int32, is as wide as its longest row, with zeros after the others.
    """
    width = max(rows.shape[2], (positions + lengths).max())
    longer = np.zeros((*rows.shape[:2], width), dtype=np.int32)
    longer[:, :, : rows.shape[2]] = rows
    begins = np.cumsum(lengths) - lengths
    for row, (position, begin, length) in enumerate(zip(positions, begins, lengths, strict=True)):
        skipped = min(length, max(0, -position))
        position += skipped
        longer[:, row, position : position + length - skipped] = items[:, begin + skipped : begin + length]
    return longer
