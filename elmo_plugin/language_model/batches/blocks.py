"""Text in its order, in blocks that are read side by side: how a language model is evaluated."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from elmo_plugin.language_model.batches.windows import Rows, Text, Window, Words, sentences_in_a_row
from elmo_plugin.language_model.corpus.chunks import Piece


class EvaluationWindow(NamedTuple):
    """
    forward, backward: what each direction reads
    sentences: shape (2, batch, time), for each target of the forward and of the backward direction the number
        of its sentence in the whole text; -1 where there is no target
    stream_starts: whether blocks begin here, so that no state is carried over
    """

    forward: Window
    backward: Window
    sentences: np.ndarray
    stream_starts: bool


class Passage(NamedTuple):
    """
    Sentences that follow one another.

    types, starts: as in a `Piece`
    words: of the types
    first: the number of the first sentence in the whole text
    """

    types: np.ndarray
    starts: np.ndarray
    words: Words
    first: int


def evaluation_windows(
    text: Text, rows: Rows, unroll_steps: int, block_words: int
) -> Iterator[EvaluationWindow]:
    """
    Evaluates all words of the text, each in the same context whatever the number of rows, time steps and
    processes: a model that starts each block from the zero state gives the same probabilities.

    # Parameters

    text : `Text`
    rows : `Rows`
        As many blocks are read side by side, until the longest of them ends. Then the next ones begin. The
        memory that this takes is that of so many blocks.
    unroll_steps : `int`
        The number of time steps in a window.
    block_words : `int`
        A block is as many sentences as have at least so many words. With 1, it is a single sentence.

    # Returns

    `Iterator[EvaluationWindow]`
        As many for each process. The backward direction reads each block from its end.
    """
    for passage, blocks in block_groups(text, rows.total, block_words):
        lengths = targets_in(passage.starts, blocks)
        own = blocks[rows.own.start : rows.own.stop + 1]
        width = -(-lengths.max() // unroll_steps) * unroll_steps
        forward, forward_sentences = _laid_out(passage, own, rows.batch_size, width, reverse=False)
        backward, backward_sentences = _laid_out(passage, own, rows.batch_size, width, reverse=True)
        sentences = np.stack([forward_sentences, backward_sentences])
        for start in range(0, width, unroll_steps):
            window = slice(start, start + unroll_steps)
            yield EvaluationWindow(
                Window(forward[0, :, window], forward[1, :, window], passage.words),
                Window(backward[0, :, window], backward[1, :, window], passage.words),
                sentences[:, :, window],
                stream_starts=start == 0,
            )


def count_evaluation_windows(text: Text, rows: Rows, unroll_steps: int, block_words: int) -> int:
    """How many `evaluation_windows` gives."""
    return sum(
        -(-int(targets_in(passage.starts, blocks).max()) // unroll_steps)
        for passage, blocks in block_groups(text, rows.total, block_words)
    )


def block_groups(text: Text, num_rows: int, block_words: int) -> Iterator[tuple[Passage, np.ndarray]]:
    """
    # Returns

    `Iterator[tuple[Passage, numpy.ndarray]]`
        A part of the text, and which of its sentences begin the blocks that are read side by side; the last
        number is the end of the last block. There are `num_rows` blocks, but for the last group.
    """
    passage = Passage(np.zeros(0, np.int32), np.zeros(1, np.int64), text.no_words(), first=0)
    for index in range(len(text.pieces)):
        passage = _followed_by(passage, text.open(index), text)
        blocks = block_boundaries(passage.starts, block_words)
        whole = (len(blocks) - 1) // num_rows * num_rows
        for group in range(0, whole, num_rows):
            yield passage, blocks[group : group + num_rows + 1]
        passage = _without(passage, blocks[whole])
    blocks = block_boundaries(passage.starts, block_words)
    end = len(passage.starts) - 1
    if blocks[-1] < end:
        blocks = np.append(blocks, end)
    if len(blocks) > 1:
        yield passage, blocks


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """The numbers of the sentences with which blocks begin; the last is the end of the last whole block."""
    following = np.searchsorted(starts, starts[:-1] + block_words).tolist()
    boundaries = [0]
    while boundaries[-1] < len(following) and following[boundaries[-1]] < len(starts):
        boundaries.append(following[boundaries[-1]])
    return np.array(boundaries)


def targets_in(starts: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The number of targets in each block: its words, and the end of each sentence."""
    return np.diff(starts[blocks]) + np.diff(blocks)


def _followed_by(passage: Passage, piece: Piece, text: Text) -> Passage:
    words, types = text.words(piece).joined(passage.words, passage.types)
    starts = np.concatenate([passage.starts, piece.starts[1:] + passage.starts[-1]])
    return Passage(np.concatenate([types, piece.types.astype(np.int32)]), starts, words, passage.first)


def _without(passage: Passage, sentences: int) -> Passage:
    """The passage without so many sentences at its beginning."""
    begin = passage.starts[sentences]
    return Passage(
        passage.types[begin:],
        passage.starts[sentences:] - begin,
        passage.words,
        passage.first + sentences,
    )


def _laid_out(
    passage: Passage, blocks: np.ndarray, num_rows: int, width: int, reverse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    # Returns

    `tuple[numpy.ndarray, numpy.ndarray]`
        Inputs and targets of a block in each row, shape (2, rows, width), zeros behind its end; and the
        number of each target's sentence, shape (rows, width), -1 behind the block's end.
    """
    runs = [np.arange(begin, end) for begin, end in pairwise(blocks)]
    sentences = np.concatenate([np.arange(0), *(run[::-1] if reverse else run for run in runs)])
    lengths = np.zeros(num_rows, dtype=np.int64)
    lengths[: len(runs)] = targets_in(passage.starts, blocks)
    inside = np.arange(width) < lengths[:, None]
    read = np.zeros((2, num_rows, width), dtype=np.int32)
    read[:, inside] = sentences_in_a_row(passage.types, passage.starts, sentences, reverse)
    numbers = np.full((num_rows, width), -1)
    numbers[inside] = np.repeat(passage.first + sentences, np.diff(passage.starts)[sentences] + 1)
    return read, numbers
