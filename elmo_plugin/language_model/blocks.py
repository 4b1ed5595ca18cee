"""
Text in its order, in blocks, and windows over the blocks.

A block is a run of whole sentences that is read from the zero state. For example, five sentences
have 2, 4, 5, 1 and 1 words, and a block should have at least 5 words. Then the blocks are the
sentences [0, 1], [2] and, shorter than the others, [3, 4]. Their boundaries are 0, 2, 3 and 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from elmo_plugin.common.integers import ceil_div
from elmo_plugin.language_model.chunks import IndexedChunk, IndexedCorpus
from elmo_plugin.language_model.windows import (
    StreamLayout,
    Window,
    append_to_rows,
    flatten_sentences,
)


class Text(NamedTuple):
    """A part of the whole text: consecutive sentences, as in `IndexedChunk`."""

    types: np.ndarray  # Shape: (tokens,), the type of each word
    starts: np.ndarray  # Shape: (sentences + 1,), where sentences begin; the last one's end
    first_sentence: int  # the number of the first of these sentences in the whole text

    @property
    def num_sentences(self) -> int:
        """The number of sentences in this part."""
        return len(self.starts) - 1

    def followed_by(self, chunk: IndexedChunk) -> "Text":
        """Returns these sentences, followed by the sentences of a chunk."""
        types = np.concatenate([self.types, chunk.types])
        starts = np.concatenate([self.starts, chunk.starts[1:] + self.starts[-1]])
        return Text(types, starts, self.first_sentence)

    def without_first(self, num_sentences: int) -> "Text":
        """Returns this part without its first sentences."""
        begin = self.starts[num_sentences]
        return Text(
            types=self.types[begin:],
            starts=self.starts[num_sentences:] - begin,
            first_sentence=self.first_sentence + num_sentences,
        )


class BlockGroup(NamedTuple):
    """The blocks that are read in parallel, one in each row."""

    text: Text
    # Which sentences of `text` begin the blocks; the last boundary is the end of the last block.
    boundaries: np.ndarray

    def in_rows(self, rows: slice) -> "BlockGroup":
        """Returns the blocks that these rows read, one for each row as long as there are any."""
        return BlockGroup(self.text, self.boundaries[rows.start : rows.stop + 1])


@dataclass(frozen=True)
class EvaluationWindow(Window):
    """A window over blocks. It also says to which sentence each target belongs."""

    sentences: np.ndarray  # Shape: (directions, batch, time), each target's sentence, -1 for none


def evaluation_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int
) -> Iterator[EvaluationWindow]:
    """
    Divides a text into blocks, each of the fewest sentences that have at least `block_words` words,
    and yields windows over the blocks, in their order. Each row reads one block at a time, from the
    zero state. A row whose block is shorter than the others waits, so that all rows begin their
    next blocks together. The backward direction reads each block from its end. All processes have
    the same number of windows.

    A word has the same context, and so the same probability, whatever the number of rows, time
    steps and processes.
    """
    for group in block_groups(corpus, layout.rows, block_words):
        yield from _group_windows(group, layout)


def count_evaluation_windows(corpus: IndexedCorpus, layout: StreamLayout, block_words: int) -> int:
    """Returns the number of windows that `evaluation_windows` yields."""
    count = 0
    for group in block_groups(corpus, layout.rows, block_words):
        count += _windows_needed(group, layout)
    return count


def block_groups(corpus: IndexedCorpus, num_rows: int, block_words: int) -> Iterator[BlockGroup]:
    """
    Divides a text into blocks, and yields them in groups that are read in parallel: `num_rows`
    blocks, or fewer in the last group. One chunk of the text is in memory at a time. The sentences
    at its end that do not fill a group are kept until the next chunk is read.
    """
    ungrouped = Text(types=np.zeros(0, np.int32), starts=np.zeros(1, np.int64), first_sentence=0)
    last_chunk = len(corpus.chunks) - 1
    for index in range(len(corpus.chunks)):
        text = ungrouped.followed_by(corpus.open(index))
        boundaries = block_boundaries(text.starts, block_words)
        if index == last_chunk and boundaries[-1] < text.num_sentences:
            # The end of the text is a block, even if it is shorter than `block_words`.
            boundaries = np.append(boundaries, text.num_sentences)
        num_blocks = len(boundaries) - 1
        if index != last_chunk:
            # Blocks that do not fill a group go into the same group as blocks of the next chunk.
            num_blocks -= num_blocks % num_rows
        all_blocks = BlockGroup(text, boundaries)
        for first_block in range(0, num_blocks, num_rows):
            yield all_blocks.in_rows(slice(first_block, first_block + num_rows))
        ungrouped = text.without_first(num_sentences=boundaries[num_blocks])


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """
    Divides sentences into blocks of at least `block_words` words. `starts` has the beginnings of
    the sentences, as in `Text`. Returns the boundaries of the blocks: the number of the sentence
    that begins each block, and last, the number of the sentence after all blocks. The sentences
    from that number on are too few for another block.
    """
    num_sentences = len(starts) - 1
    # If a block began with sentence i, the next block would begin with sentence `next_begins[i]`.
    # If that is greater than `num_sentences`, the text ends before the block has enough words.
    next_begins = np.searchsorted(starts, starts[:-1] + block_words).tolist()
    boundaries = [0]
    begin = 0
    while begin < num_sentences and next_begins[begin] <= num_sentences:
        begin = next_begins[begin]
        boundaries.append(begin)
    return np.array(boundaries)


def _count_targets(starts: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """Counts the targets in each block: its words, and a boundary for each of its sentences."""
    words = np.diff(starts[boundaries])
    sentences = np.diff(boundaries)
    return words + sentences


def _windows_needed(group: BlockGroup, layout: StreamLayout) -> int:
    """Returns the number of windows that all blocks of a group need: as many as the longest."""
    longest = _count_targets(group.text.starts, group.boundaries).max()
    return ceil_div(longest, layout.unroll_steps)


def _group_windows(group: BlockGroup, layout: StreamLayout) -> Iterator[EvaluationWindow]:
    """Yields the windows over the blocks of a group that this process reads."""
    steps = layout.unroll_steps
    width = _windows_needed(group, layout) * steps
    own = group.in_rows(layout.own_rows)  # in the last group of a text, it may have no blocks
    forward = _block_rows(own, layout.batch_size, width, reverse=False)
    backward = _block_rows(own, layout.batch_size, width, reverse=True)
    inputs = np.stack([forward.inputs, backward.inputs])
    targets = np.stack([forward.targets, backward.targets])
    sentences = np.stack([forward.sentences, backward.sentences])
    sentences[targets == 0] = -1  # after the end of a block
    for start in range(0, width, steps):
        columns = slice(start, start + steps)
        is_first = start == 0
        yield EvaluationWindow(
            inputs=inputs[..., columns],
            targets=targets[..., columns],
            starts_at_zero=is_first,
            sentences=sentences[..., columns],
        )


class BlockRows(NamedTuple):
    """
    What one direction reads and predicts in blocks, one in each row. All arrays have the shape
    (rows, width), and zeros after the end of a block.
    """

    inputs: np.ndarray
    targets: np.ndarray
    sentences: np.ndarray  # the number of each target's sentence in the whole text


def _block_rows(group: BlockGroup, num_rows: int, width: int, reverse: bool) -> BlockRows:
    """
    Returns what one direction reads and predicts in the blocks of a group, each in a row of this
    width. Rows without a block are empty.
    """
    text = group.text
    sentences = _reading_order(group.boundaries, reverse)
    items = flatten_sentences(text.types, text.starts, sentences, reverse)
    targets_in_sentence = np.diff(text.starts)[sentences] + 1  # its words and a boundary
    sentence_of_target = np.repeat(text.first_sentence + sentences, targets_in_sentence)
    targets_in_block = _count_targets(text.starts, group.boundaries)
    lengths = np.zeros(num_rows, dtype=np.int64)  # how many targets each row has
    lengths[: len(targets_in_block)] = targets_in_block
    empty_rows = np.zeros((num_rows, width), dtype=np.int32)
    first_columns = np.zeros_like(lengths)

    def in_rows(values: np.ndarray) -> np.ndarray:
        """Returns the values of each block in its row, from the first column on."""
        return append_to_rows(empty_rows, first_columns, values, lengths)

    return BlockRows(
        inputs=in_rows(items.inputs),
        targets=in_rows(items.targets),
        sentences=in_rows(sentence_of_target),
    )


def _reading_order(boundaries: np.ndarray, reverse: bool) -> np.ndarray:
    """
    Returns the numbers of the sentences of all blocks in the order in which they are read: one
    block after another, and in reverse, each block from its last sentence to its first.
    """
    sentences: list[int] = []
    for begin, end in pairwise(boundaries.tolist()):
        block = range(begin, end)
        if reverse:
            block = block[::-1]
        sentences.extend(block)
    return np.array(sentences, dtype=np.int64)
