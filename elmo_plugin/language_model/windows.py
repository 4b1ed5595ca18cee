"""Windows over text: shuffled sentences in endless rows, for truncated back-propagation.

Each row of a batch is a stream of sentences, one after another, and a window has the next time
steps of all rows. A word to be predicted is a target. For example, row 0 reads "a b" and "c", row 1
reads "d e f", both forward, in windows of three time steps:

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
    ChunkFile,
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
        Which of the rows of all processes this process has. If each process has 2 rows, process 0
        has the rows 0 and 1, and process 1 has the rows 2 and 3.
        """
        first = self.process * self.batch_size
        return slice(first, first + self.batch_size)


class Items(NamedTuple):
    """
    The words that one direction's language model reads, and the word that follows each of them:
    types of a corpus, 0 for none, in arrays of the same shape.
    """

    inputs: np.ndarray
    targets: np.ndarray


@dataclass(frozen=True)
class Window:
    """The next time steps of all rows of a process, in both directions."""

    inputs: np.ndarray  # Shape: (directions, batch, time), the types that are read, 0 for none
    targets: np.ndarray  # Shape: (directions, batch, time), the types that follow, 0 for none
    starts_at_zero: bool  # whether the rows begin here, with the state at zero


FORWARD = 0
BACKWARD = 1


class StreamKey(NamedTuple):
    """Determines the random order of chunks and sentences: the seed of numpy's generators."""

    seed: int
    epoch: int
    direction: int  # FORWARD or BACKWARD, because each direction has an order of its own


def batch_arrays(corpus: IndexedCorpus, window: Window) -> dict[str, np.ndarray]:
    """
    Returns a window as a batch for the model:

    - `character_ids`, shape (types, max_characters): the distinct words that are read.
    - `forward_types` and `backward_types`, shape (batch, time): the row in `character_ids` of each
      word that is read.
    - `forward_targets` and `backward_targets`, shape (batch, time): the vocabulary's number of the
      word that follows, 0 for none.
    """
    inputs = window.inputs
    # Words with the same character ids are one word to the model. They have the same hash, but
    # different types. `first_places` has the first place of each distinct word in the flat inputs.
    _, first_places, row_of_word = np.unique(
        corpus.hashes[inputs], return_index=True, return_inverse=True
    )
    distinct_inputs = inputs.ravel()[first_places]
    # The first axis of the inputs and targets is the direction. Shape of each: (batch, time)
    forward_types, backward_types = row_of_word.reshape(inputs.shape)
    forward_targets, backward_targets = corpus.vocabulary_numbers[window.targets]
    return {
        "character_ids": corpus.character_ids[distinct_inputs],
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
    first: int,
) -> Iterator[Window]:
    """
    Yields the windows of an epoch, from the one with index `first` on. Each direction reads the
    whole text in an order of its own.

    The state starts at zero about every `block_words` words, at the beginning of a window.
    Otherwise a biLM would only learn to continue from states that thousands of words have led to.
    """
    windows_per_block = max(1, block_words // layout.unroll_steps)  # a block has at least a window
    forward = stream_windows(corpus, layout, StreamKey(seed, epoch, FORWARD), first)
    backward = stream_windows(corpus, layout, StreamKey(seed, epoch, BACKWARD), first)
    # If one direction needs more windows, the other one reads nothing in the last of them.
    empty = np.zeros((layout.batch_size, layout.unroll_steps), dtype=np.int32)
    pairs = zip_longest(forward, backward, fillvalue=Items(empty, empty))
    for index, directions in enumerate(pairs, start=first):
        yield Window(
            inputs=np.stack([items.inputs for items in directions]),
            targets=np.stack([items.targets for items in directions]),
            starts_at_zero=index % windows_per_block == 0,
        )


def count_training_windows(corpus: Corpus, layout: StreamLayout, seed: int, epoch: int) -> int:
    """
    Returns the number of windows in an epoch. It is the number that the longest row needs, of both
    directions and all processes. Only the lengths of sentences are read, and not their words.
    """
    longest = 0  # the number of targets in the longest row
    for direction in (FORWARD, BACKWARD):
        key = StreamKey(seed, epoch, direction)
        for chunk in _assigned_chunks(corpus.chunks, layout.rows, key):
            longest = max(longest, chunk.ends.max())
    return ceil_div(longest, layout.unroll_steps)


def stream_windows(
    corpus: IndexedCorpus, layout: StreamLayout, key: StreamKey, first: int
) -> Iterator[Items]:
    """
    Yields the windows of one direction over the whole text, from the one with index `first` on;
    those before it are skipped quickly. Their arrays have the shape (batch, time).

    Chunks, and the sentences in each, come in a random order that depends on the key. Each row is a
    stream: when its sentence is over, the next one follows in the same row, and a sentence that
    does not end in a window continues in the next one. All processes have the same number of
    windows: a row that runs out before the longest one is empty from there on.
    """
    steps = layout.unroll_steps
    reverse = key.direction == BACKWARD
    # A column is one time step of all rows. So many columns were already yielded or skipped.
    columns_done = first * steps
    nothing = np.zeros((layout.batch_size, 0), dtype=np.int32)
    waiting = Items(nothing, nothing)  # the next items of this process' rows, after these columns
    row_ends = np.zeros(layout.rows, dtype=np.int64)  # how many columns each row has read
    for chunk in _assigned_chunks(corpus.chunks, layout.rows, key):
        row_ends = chunk.ends
        own_ends = row_ends[layout.own_rows]
        if own_ends.max() <= columns_done:
            continue  # all of the chunk is skipped, so its words need not be read
        waiting = _append_chunk(waiting, columns_done, corpus, chunk, layout.own_rows, reverse)
        # A window can be yielded if all rows of this process fill it. The next chunk fills the
        # others.
        num_windows = max(0, own_ends.min() - columns_done) // steps
        for index in range(num_windows):
            yield _columns(waiting, start=index * steps, steps=steps)
        yielded = num_windows * steps
        columns_done += yielded
        # Copies, so that the memory of the columns that were yielded is freed.
        waiting = Items(waiting.inputs[:, yielded:].copy(), waiting.targets[:, yielded:].copy())
    # In the last windows some rows have run out. There are windows until the longest row of all
    # processes ends, even if all rows of this process are shorter.
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
    Returns the items `waiting` in a process' own rows, followed by the sentences that these rows
    read in a chunk. `waiting` begins after `columns_done` columns. Items of the chunk that belong
    into those columns are left out, because they are skipped.
    """
    indexed = corpus.open(chunk.chunk_index)
    sentences = np.concatenate(chunk.sentences[own_rows])
    items = flatten_sentences(indexed.types, indexed.starts, sentences, reverse)
    # The column of `waiting` at which each row goes on. It is negative if that column is skipped.
    positions = chunk.begins[own_rows] - columns_done
    lengths = chunk.lengths[own_rows]
    return Items(
        append_to_rows(waiting.inputs, positions, items.inputs, lengths),
        append_to_rows(waiting.targets, positions, items.targets, lengths),
    )


def _columns(items: Items, start: int, steps: int) -> Items:
    """Returns `steps` columns from `start` on. Columns after the end of the items are zeros."""
    inputs = items.inputs[:, start : start + steps]
    targets = items.targets[:, start : start + steps]
    num_missing = steps - inputs.shape[1]
    padding = ((0, 0), (0, num_missing))  # adds no rows, and columns only at the end
    return Items(np.pad(inputs, padding), np.pad(targets, padding))


class AssignedChunk(NamedTuple):
    """A chunk whose sentences are assigned to the rows of all processes."""

    chunk_index: int  # in the corpus
    sentences: list[np.ndarray]  # for each row, the indices of its sentences, as it reads them
    begins: np.ndarray  # Shape: (rows,), how many targets each row has before this chunk
    lengths: np.ndarray  # Shape: (rows,), how many targets each row gets from this chunk

    @property
    def ends(self) -> np.ndarray:
        """How many targets each row has after this chunk, shape (rows,)."""
        return self.begins + self.lengths


def _assigned_chunks(
    chunks: Sequence[ChunkFile], num_rows: int, key: StreamKey
) -> Iterator[AssignedChunk]:
    """
    Yields the chunks in a random order, each with its sentences, also in a random order, assigned
    to the rows. Of each file only the lengths of sentences are read.
    """
    assigned = np.zeros(num_rows, dtype=np.int64)  # how many targets each row has so far
    for index in np.random.default_rng(key).permutation(len(chunks)):
        (starts,) = chunks[index].read("starts")
        # The index plus 1, because numpy ignores a 0 at the end of a key. With index 0, the key
        # would be the same as for the order of the chunks.
        key_of_chunk = (*key, index + 1)
        order = np.random.default_rng(key_of_chunk).permutation(len(starts) - 1)
        num_targets = np.diff(starts) + 1  # of each sentence: its words and a boundary
        runs = assign_sentences(num_targets[order], assigned)
        sentences = []
        for begin, end in zip(runs.begins, runs.ends, strict=True):
            sentences.append(order[begin:end])
        chunk = AssignedChunk(index, sentences, begins=assigned, lengths=runs.lengths)
        yield chunk
        assigned = chunk.ends


class Runs(NamedTuple):
    """A run of consecutive sentences for each row. All arrays have the shape (rows,)."""

    begins: np.ndarray  # the index of the row's first sentence
    ends: np.ndarray  # the index after the row's last sentence
    lengths: np.ndarray  # the number of targets in the row's sentences


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
    # How many targets each row lacks, times the number of rows, so that it is an integer. It is
    # negative if the row has more than its share already.
    scaled_lacking = total - num_rows * assigned
    order = np.argsort(-scaled_lacking, kind="stable")  # the row that lacks most comes first
    cuts = _cut_between_sentences(ends, scaled_sizes=scaled_lacking[order])
    # The row that lacks most gets the sentences between the first two cuts, and so on.
    run_begins = np.empty(num_rows, dtype=np.int64)
    run_ends = np.empty(num_rows, dtype=np.int64)
    run_begins[order] = cuts[:-1]
    run_ends[order] = cuts[1:]
    run_lengths = ends[run_ends] - ends[run_begins]
    return Runs(run_begins, run_ends, run_lengths)


def _cut_between_sentences(ends: np.ndarray, scaled_sizes: np.ndarray) -> np.ndarray:
    """
    Cuts a text into runs of sentences. `ends` are the numbers of targets in the first 0, 1, …
    sentences. `scaled_sizes` are the numbers of targets that the runs should have, each times the
    number of runs.

    Returns how many sentences come before each cut, shape (runs + 1,). The first cut is before all
    sentences, and the last one after all, so that none is left over.
    """
    num_runs = len(scaled_sizes)
    # The ends of the runs if sentences could be cut, in targets times the number of runs. A run of
    # a negative size is empty, so its end is the end of the run before it.
    scaled_run_ends = np.maximum.accumulate(np.cumsum(scaled_sizes))
    # A sentence comes before the end of a run if its middle does. The middle is half the sum of its
    # begin and its end. It may not be an integer, so both sides of the comparison are doubled.
    doubled_scaled_middles = num_runs * (ends[:-1] + ends[1:])
    sentences_before = np.searchsorted(doubled_scaled_middles, 2 * scaled_run_ends, side="right")
    cuts = np.concatenate([[0], sentences_before])
    cuts[-1] = len(ends) - 1
    return cuts


def flatten_sentences(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> Items:
    """
    Returns the items of the given sentences of a text, one sentence after another. They have the
    shape (words + sentences,), int32. For each sentence they are

    - forward: the inputs `<S> w_1 ... w_n` with the targets `w_1 ... w_n </S>`
    - in reverse: the inputs `</S> w_n ... w_1` with the targets `w_n ... w_1 <S>`

    `types` and `starts` are the text, as in `IndexedChunk`.
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
    # The first item of each sentence is a boundary, and reads no word. Any place in the text does.
    text_places[item_begins] = 0
    inputs = types[text_places].astype(np.int32)
    inputs[item_begins] = first_type
    # The target of an item is the input of the next one; after the last word, it is the boundary.
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
    ends = np.cumsum(lengths)  # where each row's items end in `items`
    for row, (position, length, end) in enumerate(zip(positions, lengths, ends, strict=True)):
        first_column = max(position, 0)
        end_column = max(position + length, 0)
        num_kept = end_column - first_column  # the last ones, if some columns are negative
        longer[row, first_column:end_column] = items[end - num_kept : end]
    return longer
