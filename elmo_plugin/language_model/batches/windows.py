"""From the types in chunks of text to batches with the unique words of both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmo_plugin.language_model.corpus.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    RESERVED_WORDS,
    ChunkFiles,
    CorpusChunk,
)


class StreamLayout(NamedTuple):
    """
    How text is divided into the rows of all processes, and into windows.

    batch_size: the rows of each process
    unroll_steps: the time steps in a window
    process, processes: the number of this process, and how many there are
    """

    batch_size: int
    unroll_steps: int
    process: int = 0
    processes: int = 1

    @property
    def rows(self) -> int:
        """The number of rows of all processes."""
        return self.batch_size * self.processes

    @property
    def own(self) -> slice:
        """The rows of this process, among those of all."""
        return slice(self.process * self.batch_size, (self.process + 1) * self.batch_size)


class TypeTable(NamedTuple):
    """
    What is known about each type of a text.

    hashes: shape (types,), equal for equal words only, whatever chunk they are from; 0 for no word
    character_ids: shape (types, max_characters), zeros for no word
    numbers: shape (types,), the vocabulary's; 0 for no word
    """

    hashes: np.ndarray
    character_ids: np.ndarray
    numbers: np.ndarray

    def concat(self, other: "TypeTable", types: np.ndarray) -> tuple["TypeTable", np.ndarray]:
        """
        Returns this table followed by those types of the other table that are in `types`, a text in any
        shape, and the text in the new table's types.
        """
        unique, places = np.unique(types, return_inverse=True)
        added = unique[unique >= len(RESERVED_WORDS)]
        renumbered = unique.astype(np.int32)
        renumbered[len(unique) - len(added) :] = np.arange(len(added)) + len(self.hashes)
        columns = (np.concatenate([mine, its[added]]) for mine, its in zip(self, other, strict=True))
        return TypeTable(*columns), renumbered[places].reshape(types.shape)


@dataclass(frozen=True)
class IndexedCorpus:
    """
    A corpus as a model with a vocabulary reads it.

    numbers: of the words of the vocabulary
    unknown: the vocabulary's number of any other word
    max_characters: character slots per word
    """

    chunks: Sequence[ChunkFiles]
    numbers: Mapping[str, int]
    unknown: int
    max_characters: int

    def open(self, number: int) -> CorpusChunk:
        """Opens the chunk of this number."""
        return self.chunks[number].open(self.max_characters)

    def type_table(self, chunk: CorpusChunk) -> TypeTable:
        """Looks up the types of a chunk."""
        numbers = chunk.vocabulary_numbers(self.numbers, self.unknown)
        return TypeTable(np.asarray(chunk.hashes), chunk.character_ids, numbers)

    def empty_table(self) -> TypeTable:
        """Returns what `type_table` gives for a chunk without text."""
        reserved = len(RESERVED_WORDS)
        character_ids = np.zeros((reserved, self.max_characters), dtype=np.int16)
        return TypeTable(np.zeros(reserved, np.int64), character_ids, np.zeros(reserved, np.int64))


class Window(NamedTuple):
    """
    inputs: shape (batch, time), types; 0 where nothing is read
    targets: shape (batch, time), the types of the words that follow; 0 where there is none
    table: of these types
    """

    inputs: np.ndarray
    targets: np.ndarray
    table: TypeTable


def sentences_in_a_row(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    Returns what a language model reads and predicts in the given sentences, one after another:
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
    Appends to each of `rows`, shape (any, rows, width), as many of `items`, shape (any, sum of lengths), as
    `lengths` says, one row's after the other's. Where a row ends is in `positions`; a negative one leaves out
    that many of its items. The result, int32, is as wide as its longest row, with zeros after the others.
    """
    width = max(rows.shape[2], (positions + lengths).max())
    longer = np.zeros((*rows.shape[:2], width), dtype=np.int32)
    longer[:, :, : rows.shape[2]] = rows
    begins = np.cumsum(lengths) - lengths
    for row, (position, begin, length) in enumerate(zip(positions, begins, lengths, strict=True)):
        left_out = min(length, max(0, -position))
        position += left_out
        longer[:, row, position : position + length - left_out] = items[:, begin + left_out : begin + length]
    return longer


def batch_arrays(forward: Window, backward: Window) -> dict[str, np.ndarray]:
    """
    Returns `character_ids` of the unique inputs of both windows, shape (types, max_characters);
    `forward_types` and `backward_types`, which of them is read where, and `forward_targets` and
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
