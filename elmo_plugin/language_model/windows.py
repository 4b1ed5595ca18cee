"""Windows over text: shuffled sentences in endless rows, for truncated back-propagation.

Each row of a batch is a stream of sentences, one after another, and a window has the next time
steps of all rows. For example, two rows read "a b", "c" and "d e f" forward, in windows of three
time steps:

    row 0, inputs     <S> a   b    | <S> c    …
    row 0, targets    a   b   </S> | c   </S> …
    row 1, inputs     <S> d   e    | f   …
    row 1, targets    d   e   f    | </S> …

In the arrays, words are types: their numbers in an `IndexedCorpus`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from elmo_plugin.common.integers import ceil_div
from elmo_plugin.language_model.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    ChunkFiles,
    IndexedCorpus,
)
from elmo_plugin.language_model.corpus import Corpus


class StreamLayout(NamedTuple):
    """How text is divided into the rows of all processes, and into windows."""

    batch_size: int  # the number of rows of each process
    unroll_steps: int  # the number of time steps in a window
    process: int = 0  # the index of this process
    processes: int = 1  # the number of all processes

    @property
    def rows(self) -> int:
        """The number of rows of all processes."""
        return self.batch_size * self.processes

    @property
    def own_rows(self) -> slice:
        """
        The rows of this process among the rows of all. If each process has 2 rows, process 0 has
        the rows 0 and 1, process 1 the rows 2 and 3.
        """
        first = self.process * self.batch_size
        return slice(first, first + self.batch_size)


class Items(NamedTuple):
    """
    The inputs of one direction's language model, and its predictions after each of them: types of a
    corpus, 0 for none, in arrays of the same shape.
    """

    inputs: np.ndarray
    targets: np.ndarray


@dataclass(frozen=True)
class Window:
    """The next time steps of all rows of a process, in both directions."""

    inputs: np.ndarray  # Shape: (directions, batch, time), the types that are read, 0 for none
    targets: np.ndarray  # Shape: (directions, batch, time), the types that are predicted
    starts_at_zero: bool  # whether the rows begin here, with the state at zero


class StreamKey(NamedTuple):
    """The seed of the random order of sentences."""

    seed: int
    epoch: int
    reverse: int  # 1 for the backward direction; it has another order


def batch_arrays(corpus: IndexedCorpus, window: Window) -> dict[str, np.ndarray]:
    """
    Returns a window as a batch of the model. It has `character_ids` of the unique inputs, shape
    (types, max_characters); `forward_types` and `backward_types`, the row among them of the word
    that is read at each place, and `forward_targets` and `backward_targets`, the vocabulary's
    numbers of the words that follow, all of shape (batch, time).
    """
    inputs = window.inputs
    # The unique words, in the order of their hashes: one place of each, and which of them is read
    # at each place.
    _, places, unique_word_at = np.unique(
        corpus.hashes[inputs], return_index=True, return_inverse=True
    )
    unique_inputs = inputs.ravel()[places]
    forward_types, backward_types = unique_word_at.reshape(inputs.shape)
    forward_targets, backward_targets = corpus.numbers[window.targets]
    return {
        "character_ids": corpus.character_ids[unique_inputs],
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
) -> Iterator[Window]:
    """
    Yields the windows of both directions, each over its streams, from the window with index `first`
    on. The state starts at zero every `block_words` words. Otherwise a biLM would only learn to
    continue from states that thousands of words have led to.
    """
    windows_per_block = max(1, block_words // layout.unroll_steps)
    forward = stream_windows(corpus, layout, StreamKey(seed, epoch, reverse=0), first)
    backward = stream_windows(corpus, layout, StreamKey(seed, epoch, reverse=1), first)
    # If one direction has more windows than the other, the other one's are empty at the end.
    empty = np.zeros((layout.batch_size, layout.unroll_steps), dtype=np.int32)
    pairs = zip_longest(forward, backward, fillvalue=Items(empty, empty))
    for index, directions in enumerate(pairs, start=first):
        yield Window(
            inputs=np.stack([items.inputs for items in directions]),
            targets=np.stack([items.targets for items in directions]),
            starts_at_zero=index % windows_per_block == 0,
        )


def count_training_windows(corpus: Corpus, layout: StreamLayout, seed: int, epoch: int) -> int:
    """Returns the number of windows in an epoch, until all rows of both directions have run out."""
    longest = 0  # the number of targets in the longest row
    for reverse in (0, 1):
        for chunk in _assigned_chunks(corpus.chunks, layout.rows, StreamKey(seed, epoch, reverse)):
            longest = max(longest, chunk.ends.max())
    return ceil_div(longest, layout.unroll_steps)


def stream_windows(
    corpus: IndexedCorpus, layout: StreamLayout, key: StreamKey, first: int
) -> Iterator[Items]:
    """
    Reads the text once in one direction, its chunks and the sentences of each in a random order
    that depends on the key. Each row is a stream: when its sentence is over, the next one follows
    in the same row, and a sentence that does not end in a window continues in the next one. A
    sentence's first item is never a target, and its last never an input. The windows end when the
    rows of all processes have run out; then every sentence has been read once. A row that has run
    out is empty.

    Yields windows of shape (batch, time). Skips the windows before `first` (quickly).
    """
    steps = layout.unroll_steps
    is_backward = key.reverse == 1
    # The streams of all rows as columns: how many of them have been yielded or skipped, and the
    # items after these that this process' rows have read.
    columns_done = first * steps
    nothing = np.zeros((layout.batch_size, 0), dtype=np.int32)
    waiting = Items(nothing, nothing)
    row_ends = np.zeros(layout.rows, dtype=np.int64)  # how many columns each row has read
    for chunk in _assigned_chunks(corpus.chunks, layout.rows, key):
        row_ends = chunk.ends
        own_ends = row_ends[layout.own_rows]
        if own_ends.max() <= columns_done:
            continue  # all of the chunk is skipped
        waiting = _append_chunk(waiting, columns_done, corpus, chunk, layout.own_rows, is_backward)
        # Only windows that all rows fill can be yielded now; the others may get more items.
        num_windows = max(0, own_ends.min() - columns_done) // steps
        for number in range(num_windows):
            yield _columns(waiting, number * steps, steps)
        ready = num_windows * steps
        columns_done += ready
        waiting = Items(waiting.inputs[:, ready:].copy(), waiting.targets[:, ready:].copy())
    # The last windows, in which some rows have run out, here or in other processes.
    for start in range(0, row_ends.max() - columns_done, steps):
        yield _columns(waiting, start, steps)


def _append_chunk(
    waiting: Items,
    columns_done: int,
    corpus: IndexedCorpus,
    chunk: "AssignedChunk",
    own_rows: slice,
    reverse: bool,
) -> Items:
    """
    Reads the sentences of a process' own rows in a chunk, and returns the items `waiting` in these
    rows with the new ones after them. `waiting` begins after the `columns_done` of the streams that
    have been yielded or skipped.
    """
    types, starts = corpus.open(chunk.number)
    sentences = np.concatenate(chunk.sentences[own_rows])
    items = flatten_sentences(types, starts, sentences, reverse)
    positions = chunk.begins[own_rows] - columns_done  # in `waiting`; negative if items are skipped
    lengths = chunk.lengths[own_rows]
    return Items(
        append_to_rows(waiting.inputs, positions, items.inputs, lengths),
        append_to_rows(waiting.targets, positions, items.targets, lengths),
    )


def _columns(items: Items, start: int, steps: int) -> Items:
    """Returns `steps` columns of rows from `start` on, with zeros after the end of the rows."""
    inputs = items.inputs[:, start : start + steps]
    targets = items.targets[:, start : start + steps]
    padding = ((0, 0), (0, steps - inputs.shape[1]))  # only columns, and only at their end
    return Items(np.pad(inputs, padding), np.pad(targets, padding))


class AssignedChunk(NamedTuple):
    """The sentences of a chunk that each row reads."""

    number: int  # the index of the chunk in the corpus
    sentences: list[np.ndarray]  # the numbers of each row's sentences, in their order
    begins: np.ndarray  # Shape: (rows,), the number of targets that each row had before
    lengths: np.ndarray  # Shape: (rows,), the number of targets that each row gets

    @property
    def ends(self) -> np.ndarray:
        """The number of targets that each row has now, shape (rows,)."""
        return self.begins + self.lengths


def _assigned_chunks(
    chunks: Sequence[ChunkFiles], num_rows: int, key: StreamKey
) -> Iterator[AssignedChunk]:
    """Yields the chunks in random order, each with the rows of its sentences."""
    assigned = np.zeros(num_rows, dtype=np.int64)
    for index in np.random.default_rng(key).permutation(len(chunks)):
        (starts,) = chunks[index].read("starts")
        # Not the index itself, because to numpy a key is the same with and without a 0 at its end.
        key_of_chunk = (*key, index + 1)
        order = np.random.default_rng(key_of_chunk).permutation(len(starts) - 1)
        num_targets = np.diff(starts) + 1  # of each sentence: its words and a boundary
        runs = assign_sentences(num_targets[order], assigned)
        sentences = []
        for begin, end in zip(runs.begins, runs.ends, strict=True):
            sentences.append(order[begin:end])
        chunk = AssignedChunk(
            number=index, sentences=sentences, begins=assigned, lengths=runs.lengths
        )
        yield chunk
        assigned = chunk.ends


class Runs(NamedTuple):
    """A run of consecutive sentences for each row; all arrays have the shape (rows,)."""

    begins: np.ndarray  # the first of each row's sentences
    ends: np.ndarray  # the one after each row's last sentence
    lengths: np.ndarray  # the number of targets in each row's sentences


def assign_sentences(lengths: np.ndarray, assigned: np.ndarray) -> Runs:
    """
    Assigns sentences to rows, a run of consecutive sentences to each, so that all rows have the
    same number of targets in total, within about a sentence. `lengths` are the numbers of targets
    in the sentences, and `assigned` counts the targets of each row so far.

    For example, two rows have 5 and 2 targets, and sentences of 3, 4, 2 and 3 targets follow. Each
    row should have half of these 19 targets: the first lacks 4.5, the second 7.5. The row that
    lacks most is served first, so the second row gets the sentences of 3 and 4 targets. The first
    row gets the others.
    """
    num_rows = len(assigned)
    ends = np.concatenate([[0], np.cumsum(lengths)])  # the targets of the first 0, 1, … sentences
    total = assigned.sum() + ends[-1]
    # How many targets each row lacks, times the number of rows, so that it is an integer.
    lacking = total - num_rows * assigned
    order = np.argsort(-lacking, kind="stable")  # the row that lacks most comes first
    cuts = _cut_between_sentences(ends, lacking[order])
    # The row that lacks most gets the sentences between the first two cuts, and so on.
    run_begins = np.empty(num_rows, dtype=np.int64)
    run_ends = np.empty(num_rows, dtype=np.int64)
    run_begins[order] = cuts[:-1]
    run_ends[order] = cuts[1:]
    return Runs(run_begins, run_ends, ends[run_ends] - ends[run_begins])


def _cut_between_sentences(ends: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """
    Cuts a text into one run of sentences for each of `sizes`, the numbers of targets that the runs
    should have, all times the number of runs. `ends` are the numbers of targets in the first 0, 1,
    … sentences of the text. Returns how many sentences come before each cut: the first cut is
    before all sentences, and the last after all, so that none is left over.
    """
    num_runs = len(sizes)
    # The ends of the runs if sentences could be cut. A run of a negative size is empty.
    places = np.maximum.accumulate(np.cumsum(sizes))
    # A sentence comes before a cut if its middle does. Middles may be halves, so both sides of the
    # comparison are doubled.
    doubled_middles = num_runs * (ends[:-1] + ends[1:])
    sentences_before = np.searchsorted(doubled_middles, 2 * places, side="right")
    cuts = np.concatenate([[0], sentences_before])
    cuts[-1] = len(ends) - 1
    return cuts


def flatten_sentences(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> Items:
    """
    Returns the items of the given sentences of a text, one sentence after another: the inputs `<S>
    w_1 ... w_n` with the targets `w_1 ... w_n </S>`, or with `reverse` `</S> w_n ... w_1` with `w_n
    ... w_1 <S>`. The shape is (words + sentences,), int32. `types` and `starts` are as
    `IndexedCorpus.open` returns them.
    """
    first_type = BEGIN_SENTENCE_TYPE
    last_type = END_SENTENCE_TYPE
    if reverse:
        first_type = END_SENTENCE_TYPE
        last_type = BEGIN_SENTENCE_TYPE
    # Where each sentence begins and ends in the text, without boundaries.
    text_begins = starts[sentences]
    text_ends = starts[sentences + 1]
    lengths = text_ends - text_begins + 1  # the words and a boundary
    # Where each sentence begins and ends among the items.
    item_ends = np.cumsum(lengths)
    item_begins = item_ends - lengths
    # The place of each item in its sentence: 0 is the boundary, the words are 1, 2, ...
    places = np.arange(lengths.sum()) - np.repeat(item_begins, lengths)
    # The place in the text of the word that each item reads.
    if reverse:
        text_places = np.repeat(text_ends, lengths) - places
    else:
        text_places = np.repeat(text_begins, lengths) + places - 1
    text_places[item_begins] = 0  # any place that exists: the boundary is written below
    inputs = types[text_places].astype(np.int32)
    inputs[item_begins] = first_type
    # Each item predicts the input of the next one, and the last one of a sentence its end.
    targets = np.empty_like(inputs)
    targets[:-1] = inputs[1:]
    targets[item_ends - 1] = last_type
    return Items(inputs, targets)


def append_to_rows(
    rows: np.ndarray, positions: np.ndarray, items: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """
    Returns `rows`, shape (rows, width), with more items in each: row i gets the next `lengths[i]`
    of `items`, shape (sum of lengths,), the first of them in column `positions[i]`. Items whose
    column would be negative are left out. The result, int32, is as wide as its longest row, with
    zeros after shorter rows.
    """
    old_width = rows.shape[1]
    width = max(old_width, (positions + lengths).max())
    longer = np.zeros((len(rows), width), dtype=np.int32)
    longer[:, :old_width] = rows
    begin = 0  # where the row's items begin in `items`
    for row, (position, length) in enumerate(zip(positions, lengths, strict=True)):
        end = begin + length
        first_column = max(position, 0)
        end_column = max(position + length, 0)
        longer[row, first_column:end_column] = items[end - (end_column - first_column) : end]
        begin = end
    return longer
