"""From the types in pieces of text to batches with the distinct words of both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmo_plugin.language_model.corpus.chunks import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    RESERVED_WORDS,
    Piece,
    PieceFiles,
)


class Rows(NamedTuple):
    """
    All processes together read so many rows of text side by side, and each has its own among them.

    # Parameters

    batch_size : `int`
        The rows of each process.
    process : `int`
        The number of this process.
    processes : `int`
        How many there are.
    """

    batch_size: int
    process: int = 0
    processes: int = 1

    @property
    def total(self) -> int:
        return self.batch_size * self.processes

    @property
    def own(self) -> slice:
        return slice(self.process * self.batch_size, (self.process + 1) * self.batch_size)


class Words(NamedTuple):
    """
    hashes: shape (types,), equal for equal words only, whatever piece they are from; 0 for no word
    character_ids: shape (types, max_characters), zeros for no word
    numbers: shape (types,), the vocabulary's; 0 for no word
    """

    hashes: np.ndarray
    character_ids: np.ndarray
    numbers: np.ndarray

    def joined(self, others: "Words", types: np.ndarray) -> tuple["Words", np.ndarray]:
        """
        # Parameters

        others : `Words`
        types : `numpy.ndarray`
            Text, in types of the others, in any shape.

        # Returns

        `tuple[Words, numpy.ndarray]`
            These words followed by those of the others that are in the text, and the text in their types.
        """
        distinct, places = np.unique(types, return_inverse=True)
        added = distinct[distinct >= len(RESERVED_WORDS)]
        renumbered = distinct.astype(np.int32)
        renumbered[len(distinct) - len(added) :] = np.arange(len(added)) + len(self.hashes)
        words = Words(
            *(np.concatenate([mine, theirs[added]]) for mine, theirs in zip(self, others, strict=True))
        )
        return words, renumbered[places].reshape(types.shape)


@dataclass(frozen=True)
class Text:
    """
    A corpus as a model with a vocabulary reads it.

    # Parameters

    pieces : `Sequence[PieceFiles]`
        Of the corpus.
    numbers : `Mapping[str, int]`
        The words of the vocabulary.
    unknown : `int`
        The vocabulary's number of any other word.
    max_characters : `int`
        Character slots per word.
    """

    pieces: Sequence[PieceFiles]
    numbers: Mapping[str, int]
    unknown: int
    max_characters: int

    def open(self, number: int) -> Piece:
        return self.pieces[number].open(self.max_characters)

    def words(self, piece: Piece) -> Words:
        numbers = piece.vocabulary_numbers(self.numbers, self.unknown)
        return Words(np.asarray(piece.hashes), piece.character_ids, numbers)

    def no_words(self) -> Words:
        """What `words` gives for a piece without text."""
        reserved = len(RESERVED_WORDS)
        character_ids = np.zeros((reserved, self.max_characters), dtype=np.int16)
        return Words(np.zeros(reserved, np.int64), character_ids, np.zeros(reserved, np.int64))


class Window(NamedTuple):
    """
    inputs: shape (batch, time), types; 0 where nothing is read
    targets: shape (batch, time), the types of the words that follow; 0 where there is none
    words: of these types
    """

    inputs: np.ndarray
    targets: np.ndarray
    words: Words


def sentences_in_a_row(
    types: np.ndarray, starts: np.ndarray, sentences: np.ndarray, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    What a language model reads and predicts in sentences one after another: `<S> w_1 ... w_n` and
    `w_1 ... w_n </S>` forward, `</S> w_n ... w_1` and `w_n ... w_1 <S>` backward.

    # Parameters

    types, starts : `numpy.ndarray`
        As in a `Piece`.
    sentences : `numpy.ndarray`
        Shape (any number,), which sentences.
    reverse : `bool`
        Whether each is read backwards.

    # Returns

    `tuple[numpy.ndarray, numpy.ndarray]`
        Inputs and targets, shape (words + sentences,), int32.
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


def batch_arrays(forward: Window, backward: Window) -> dict[str, np.ndarray]:
    """
    # Returns

    `dict[str, numpy.ndarray]`
        `character_ids` of the distinct inputs of both windows, shape (words, max_characters);
        `forward_types` and `backward_types`, which of them is read where, and `forward_targets` and
        `backward_targets`, the vocabulary's numbers of the words that follow, all of shape (batch, time).
    """
    inputs = np.concatenate([forward.inputs.ravel(), backward.inputs.ravel()])
    split = forward.inputs.size
    hashes = np.concatenate([forward.words.hashes[inputs[:split]], backward.words.hashes[inputs[split:]]])
    _, examples, places = np.unique(hashes, return_index=True, return_inverse=True)
    is_forward = examples < split
    character_ids = np.empty((len(examples), forward.words.character_ids.shape[1]), dtype=np.int16)
    character_ids[is_forward] = forward.words.character_ids[inputs[examples[is_forward]]]
    character_ids[~is_forward] = backward.words.character_ids[inputs[examples[~is_forward]]]
    forward_types, backward_types = places.reshape(2, *forward.inputs.shape)
    return {
        "character_ids": character_ids,
        "forward_types": forward_types,
        "forward_targets": forward.words.numbers[forward.targets],
        "backward_types": backward_types,
        "backward_targets": backward.words.numbers[backward.targets],
    }
