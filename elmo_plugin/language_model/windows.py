"""Windows over text: shuffled sentences in endless rows, for truncated back-propagation."""

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
    # For each unique word, `examples` has one of its places; `types` has the word at each place.
    _, examples, types = np.unique(corpus.hashes[inputs], return_index=True, return_inverse=True)
    forward_types, backward_types = types.reshape(inputs.shape)
    forward_targets, backward_targets = corpus.numbers[window.targets]
    unique_inputs = inputs.ravel()[examples]
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
    on. The state starts at zero every `block_words` words: a biLM that never reads from zero learns
    states that are thousands of words away.
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
    corpus: IndexedCorpus, layout: StreamLayout, key: StreamKey, first: int = 0
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
    done = first * steps  # the number of targets of each row that have been yielded or skipped
    nothing = np.zeros((layout.batch_size, 0), dtype=np.int32)
    waiting = Items(nothing, nothing)  # read by this process' rows, but not yet yielded
    row_ends = np.zeros(layout.rows, dtype=np.int64)  # the number of targets of each row so far
    for chunk in _assigned_chunks(corpus.chunks, layout.rows, key):
        row_ends = chunk.ends
        own_ends = row_ends[layout.own]
        if own_ends.max() <= done:
            continue  # all of the chunk is skipped
        waiting = _append_chunk(waiting, done, corpus, chunk, layout.own, reverse=key.reverse == 1)
        # Only the columns that all rows reach can be yielded now, in whole windows.
        ready = max(0, own_ends.min() - done) // steps * steps
        for start in range(0, ready, steps):
            yield _columns(waiting, start, steps)
        done += ready
        waiting = Items(waiting.inputs[:, ready:].copy(), waiting.targets[:, ready:].copy())
    # The last windows, in which some rows have run out, here or in other processes.
    for start in range(0, row_ends.max() - done, steps):
        yield _columns(waiting, start, steps)


def _append_chunk(
    waiting: Items,
    done: int,
    corpus: IndexedCorpus,
    chunk: "AssignedChunk",
    own: slice,
    reverse: bool,
) -> Items:
    """
    Reads the sentences of a process' own rows in a chunk, and returns the items `waiting` in these
    rows with the new ones after them. `done` targets of each row have been yielded or skipped.
    """
    types, starts = corpus.open(chunk.number)
    sentences = np.concatenate(chunk.sentences[own])
    items = flatten_sentences(types, starts, sentences, reverse)
    positions = chunk.begins[own] - done  # in `waiting`; negative if items are skipped
    lengths = chunk.lengths[own]
    return Items(
        append_to_rows(waiting.inputs, positions, items.inputs, lengths),
        append_to_rows(waiting.targets, positions, items.targets, lengths),
    )


def _columns(items: Items, start: int, steps: int) -> Items:
    """Returns `steps` columns of rows from `start` on, with zeros after the end of the rows."""
    inputs = items.inputs[:, start : start + steps]
    targets = items.targets[:, start : start + steps]
    missing = ((0, 0), (0, steps - inputs.shape[1]))
    return Items(np.pad(inputs, missing), np.pad(targets, missing))


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
        own_key = (*key, index + 1)
        order = np.random.default_rng(own_key).permutation(len(starts) - 1)
        num_targets = np.diff(starts) + 1  # of each sentence: its words and a boundary
        runs = assign_sentences(num_targets[order], assigned)
        sentences = [order[begin:end] for begin, end in zip(runs.begins, runs.ends, strict=True)]
        chunk = AssignedChunk(
            number=index, sentences=sentences, begins=assigned, lengths=runs.lengths
        )
        yield chunk
        assigned = chunk.ends


class Runs(NamedTuple):
    """Consecutive sentences for each row, shape (rows,)."""

    begins: np.ndarray  # the first of each row's sentences
    ends: np.ndarray  # the one after each row's last sentence
    lengths: np.ndarray  # the number of targets in each row's sentences


def assign_sentences(lengths: np.ndarray, assigned: np.ndarray) -> Runs:
    """
    Assigns sentences to rows, a run of consecutive sentences to each, so that all rows have the
    same number of targets in total, within about a sentence. `lengths` are the numbers of targets
    in the sentences, and `assigned` counts the targets of each row so far.
    """
    num_rows = len(assigned)
    ends = np.concatenate([[0], np.cumsum(lengths)])  # of no, one, two, ... sentences
    # How many targets each row needs to have as many as the others. These numbers and the places
    # below are multiplied by the number of rows, so that they are integers.
    deficits = assigned.sum() + ends[-1] - num_rows * assigned
    # If every row could get exactly its deficit, the row with the largest one first, the text would
    # be cut at these places:
    rows_by_deficit = np.argsort(-deficits, kind="stable")
    wanted = np.maximum.accumulate(np.cumsum(deficits[rows_by_deficit]))
    # It is cut between sentences instead, before the first one whose middle is after the place.
    twice_the_middles = num_rows * (ends[:-1] + ends[1:])
    sentences_before = np.searchsorted(twice_the_middles, 2 * wanted, side="right")
    cuts = np.concatenate([[0], sentences_before])
    cuts[-1] = len(lengths)  # the last cut is after the last sentence, so none is left over
    # The row with the largest deficit gets the sentences between the first two cuts, and so on.
    run_begins = np.empty(num_rows, dtype=np.int64)
    run_ends = np.empty(num_rows, dtype=np.int64)
    run_begins[rows_by_deficit] = cuts[:-1]
    run_ends[rows_by_deficit] = cuts[1:]
    return Runs(run_begins, run_ends, ends[run_ends] - ends[run_begins])


def flatten_sentences(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> Items:
    """
    Returns the items of the given sentences of a text, one sentence after another: the inputs `<S>
    w_1 ... w_n` with the targets `w_1 ... w_n </S>`, or with `reverse` `</S> w_n ... w_1` with `w_n
    ... w_1 <S>`. The shape is (words + sentences,), int32. `types` and `starts` are as
    `IndexedCorpus.open` returns them.
    """
    first_type = END_SENTENCE_TYPE if reverse else BEGIN_SENTENCE_TYPE
    last_type = BEGIN_SENTENCE_TYPE if reverse else END_SENTENCE_TYPE
    text_begins = starts[sentences]
    text_ends = starts[sentences + 1]
    lengths = text_ends - text_begins + 1  # the words and a boundary
    # The places of the first item of each sentence, and after its last one.
    item_ends = np.cumsum(lengths)
    item_begins = item_ends - lengths
    # The place of each item in its sentence: 0 is the boundary, the words are 1, 2, ...
    places = np.arange(lengths.sum()) - np.repeat(item_begins, lengths)
    # The place of each item in the text. There, sentences have no boundaries.
    if reverse:
        text_places = np.repeat(text_ends, lengths) - places
    else:
        text_places = np.repeat(text_begins, lengths) + places - 1
    text_places[item_begins] = 0  # any place that exists: the boundary is written below
    inputs = types[text_places].astype(np.int32)
    inputs[item_begins] = first_type
    targets = np.empty_like(inputs)
    targets[:-1] = inputs[1:]
    targets[item_ends - 1] = last_type
    return Items(inputs, targets)


def append_to_rows(
    rows: np.ndarray, positions: np.ndarray, items: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """
    Appends the next `lengths[i]` of `items`, shape (sum of lengths,), to row i of `rows`, shape
    (rows, width), from `positions[i]` on; a negative position skips that many of its items. The
    result, int32, is as wide as its longest row, with zeros after shorter rows.
    """
    width = max(rows.shape[1], (positions + lengths).max())
    longer = np.zeros((len(rows), width), dtype=np.int32)
    longer[:, : rows.shape[1]] = rows
    begin = 0  # where the row's items begin in `items`
    for row, (position, length) in enumerate(zip(positions, lengths, strict=True)):
        end = begin + length
        skipped = min(length, max(0, -position))
        longer[row, position + skipped : position + length] = items[begin + skipped : end]
        begin = end
    return longer
