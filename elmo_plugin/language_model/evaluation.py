"""
Text in its order, in blocks, and the probability of each of its words under both language models.

A block is a run of whole sentences that is read from the zero state. For example, five sentences
have 2, 4, 5, 1 and 1 words, and a block should have at least 5 words. Then the blocks are the
sentences [0, 1], [2] and, shorter than the others, [3, 4]. Their boundaries are 0, 2, 3 and 5.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, pack
from elmo_plugin.common.integers import ceil_div
from elmo_plugin.language_model.chunks import IndexedChunk, IndexedCorpus
from elmo_plugin.language_model.windows import (
    StreamLayout,
    Window,
    append_to_rows,
    batch_arrays,
    flatten_sentences,
)


class Text(NamedTuple):
    """A part of the whole text: consecutive sentences, as in `IndexedChunk`."""

    types: np.ndarray  # Shape: (tokens,), the type of each word
    starts: np.ndarray  # Shape: (sentences + 1,), where sentences begin; the last one's end
    first: int  # the number in the whole text of the first of these sentences

    @property
    def num_sentences(self) -> int:
        """The number of sentences in this part."""
        return len(self.starts) - 1

    def followed_by(self, chunk: IndexedChunk) -> "Text":
        """Returns these sentences, followed by the sentences of a chunk."""
        types = np.concatenate([self.types, chunk.types])
        starts = np.concatenate([self.starts, chunk.starts[1:] + self.starts[-1]])
        return Text(types, starts, self.first)

    def from_sentence(self, number: int) -> "Text":
        """Returns the sentences of this part from this one on; its first sentence has number 0."""
        begin = self.starts[number]
        return Text(self.types[begin:], self.starts[number:] - begin, self.first + number)


class BlockGroup(NamedTuple):
    """The blocks that are read in parallel, one in each row."""

    text: Text
    boundaries: np.ndarray  # the sentences of `text` that begin the blocks; the last block's end


@dataclass(frozen=True)
class EvaluationWindow(Window):
    """A window over blocks. It also says to which sentence each target belongs."""

    sentences: np.ndarray  # Shape: (directions, batch, time), each target's sentence, -1 for none


def evaluation_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int
) -> Iterator[EvaluationWindow]:
    """
    Yields all words of the text, each in the same context whatever the number of rows, time steps
    and processes: a model that starts each block from the zero state gives the same probabilities.
    A block is the fewest sentences that have at least `block_words` words. Each row reads a block,
    until the longest of them ends; then the next ones begin, at zero. The backward direction reads
    each block from its end. All processes have the same number of windows.
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
    blocks, or fewer in the last group. One chunk of the text is in memory at a time, and the blocks
    at its end that were too few for a group.
    """
    # The sentences that have been read from chunks, but are in no group yet.
    rest = Text(types=np.zeros(0, np.int32), starts=np.zeros(1, np.int64), first=0)
    last_chunk = len(corpus.chunks) - 1
    for index in range(len(corpus.chunks)):
        text = rest.followed_by(corpus.open(index))
        boundaries = block_boundaries(text.starts, block_words)
        if index == last_chunk:
            # All blocks are in groups now, and the last one may be shorter than `block_words`.
            boundaries = np.unique([*boundaries, text.num_sentences])
            num_grouped = len(boundaries) - 1
        else:
            num_groups = (len(boundaries) - 1) // num_rows
            num_grouped = num_groups * num_rows
        for block in range(0, num_grouped, num_rows):
            yield BlockGroup(text, boundaries[block : block + num_rows + 1])
        rest = text.from_sentence(boundaries[num_grouped])


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """
    Returns the numbers of the sentences with which blocks begin, and the end of the last whole
    block.
    """
    num_sentences = len(starts) - 1
    # For each sentence: with which one the next block begins, if a block begins with this one.
    # Beyond `num_sentences`, the text ends before the block is whole.
    next_begins = np.searchsorted(starts, starts[:-1] + block_words).tolist()
    boundaries = [0]
    begin = 0
    while begin < num_sentences and next_begins[begin] <= num_sentences:
        begin = next_begins[begin]
        boundaries.append(begin)
    return np.array(boundaries)


def _count_targets(starts: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """Counts the targets in each block: its words, and the end of each of its sentences."""
    words = np.diff(starts[boundaries])
    sentences = np.diff(boundaries)
    return words + sentences


def _windows_needed(group: BlockGroup, layout: StreamLayout) -> int:
    """Returns the number of windows that the longest block of a group needs."""
    longest = _count_targets(group.text.starts, group.boundaries).max()
    return ceil_div(longest, layout.unroll_steps)


def _group_windows(group: BlockGroup, layout: StreamLayout) -> Iterator[EvaluationWindow]:
    """Yields the windows over the blocks of a group that this process reads."""
    steps = layout.unroll_steps
    width = _windows_needed(group, layout) * steps
    first_row = layout.own_rows.start
    after_last_row = layout.own_rows.stop
    # The beginnings of this process' blocks, and the end of the last one of them.
    own_boundaries = group.boundaries[first_row : after_last_row + 1]
    own = BlockGroup(group.text, own_boundaries)
    forward = _block_rows(own, layout.batch_size, width, reverse=False)
    backward = _block_rows(own, layout.batch_size, width, reverse=True)
    inputs = np.stack([forward.inputs, backward.inputs])
    targets = np.stack([forward.targets, backward.targets])
    sentences = np.stack([forward.sentences, backward.sentences])
    sentences[targets == 0] = -1
    for start in range(0, width, steps):
        columns = slice(start, start + steps)
        yield EvaluationWindow(
            inputs=inputs[..., columns],
            targets=targets[..., columns],
            starts_at_zero=start == 0,
            sentences=sentences[..., columns],
        )


class BlockRows(NamedTuple):
    """A block in each row: arrays of shape (rows, width), 0 after the end of a block."""

    inputs: np.ndarray
    targets: np.ndarray
    sentences: np.ndarray  # the number of each target's sentence in the whole text


def _block_rows(group: BlockGroup, num_rows: int, width: int, reverse: bool) -> BlockRows:
    """Returns what one direction reads and predicts in blocks, each in a row of this width."""
    text = group.text
    blocks = []  # the numbers of the sentences in each block, in the order in which they are read
    for begin, end in pairwise(group.boundaries):
        block = np.arange(begin, end)
        if reverse:
            block = block[::-1]
        blocks.append(block)
    no_sentences = np.arange(0)
    sentences = np.concatenate([no_sentences, *blocks])  # a process may have no block at all
    items = flatten_sentences(text.types, text.starts, sentences, reverse=reverse)
    targets_in_sentences = np.diff(text.starts)[sentences] + 1  # its words and a boundary
    numbers = np.repeat(text.first + sentences, targets_in_sentences)
    lengths = np.zeros(num_rows, dtype=np.int64)
    lengths[: len(blocks)] = _count_targets(text.starts, group.boundaries)
    empty = np.zeros((num_rows, width), dtype=np.int32)
    begins = np.zeros_like(lengths)
    return BlockRows(
        inputs=append_to_rows(empty, begins, items.inputs, lengths),
        targets=append_to_rows(empty, begins, items.targets, lengths),
        sentences=append_to_rows(empty, begins, numbers, lengths),
    )


def perplexity(nats_per_token: float) -> float:
    """Returns `exp` of the mean negative log-likelihood, infinite if that is beyond a float."""
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


def perplexities(forward: float, backward: float) -> dict[str, float]:
    """
    Returns the perplexities of each direction, and of both together, given the losses per token.
    """
    return {
        "forward_perplexity": perplexity(forward),
        "backward_perplexity": perplexity(backward),
        "perplexity": perplexity(0.5 * (forward + backward)),
    }


class SentenceScores(NamedTuple):
    """
    `-log p` in nats of each word of a sentence and of its boundary, predicted last: (words + 1,).
    """

    forward: np.ndarray
    backward: np.ndarray


def read_words(corpus: IndexedCorpus) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yields the words of each sentence, and whether each of them is unknown, shape (words,)."""
    for number in range(len(corpus.chunks)):
        types, starts = corpus.open(number)
        is_unknown = corpus.vocabulary_numbers[types] == corpus.unknown_number
        for begin, end in pairwise(starts.tolist()):
            words = [corpus.words[word_type] for word_type in types[begin:end].tolist()]
            yield words, is_unknown[begin:end]


def score_sentences(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    corpus: IndexedCorpus,
    layout: StreamLayout,
    block_words: int,
) -> Iterator[SentenceScores]:
    """
    Yields the scores of each sentence of a text, in the order of the text. They are computed by the
    full softmax, without its row 0, the padding. Only the blocks that are read in parallel are in
    memory. The biLM must be in evaluation mode; if it is frozen, this is faster.
    """
    state: LstmState | None = None
    scored: list[ScoredWindow] = []  # the windows of the blocks that are read now
    for window in evaluation_windows(corpus, layout, block_words):
        if window.starts_at_zero:
            yield from _scores_by_sentence(scored)
            state = None
            scored = []
        forward_sentences = window.sentences[0]
        has_target = forward_sentences >= 0
        batch = batch_arrays(corpus, window)
        losses, state = _score_window(bilm, softmax, batch, has_target, state)
        scored.append(ScoredWindow(losses, forward_sentences))
    yield from _scores_by_sentence(scored)


class ScoredWindow(NamedTuple):
    """The losses of a window, and the sentences that they belong to."""

    losses: np.ndarray  # Shape: (directions, batch, time), 0 without a target
    sentences: np.ndarray  # Shape: (batch, time), of the forward direction, -1 without a target


@torch.no_grad()
def _score_window(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    batch: dict[str, np.ndarray],
    has_target: np.ndarray,
    state: LstmState | None,
) -> tuple[np.ndarray, LstmState | None]:
    """
    Runs the biLM over a window, given as a batch, from a state on. Returns the losses, shape (2,
    batch, time), 0 without a target, and the state after the window. `has_target` has shape (batch,
    time).
    """
    device = softmax.weight.device
    packing = pack(torch.from_numpy(has_target.sum(axis=1)), device)
    # The row and the time step of each target in the window, in packed order; shapes: (packed,)
    rows = packing.sentence_of_row.cpu().numpy()
    times = packing.time_of_row.cpu().numpy()
    # Shape: (2, packed)
    types = np.stack([batch["forward_types"][rows, times], batch["backward_types"][rows, times]])
    targets = np.stack(
        [batch["forward_targets"][rows, times], batch["backward_targets"][rows, times]]
    )
    character_ids = torch.from_numpy(batch["character_ids"]).to(device)
    types_of_directions = torch.from_numpy(types).to(device).unbind()
    settings = bilm.settings(keep_state=True)._replace(dropout=False)
    output = bilm.forward_packed(character_ids, types_of_directions, packing, settings, state)
    hidden = torch.cat(output.layers[-1])  # Shape: (2 * packed, dim)
    flat_targets = torch.from_numpy(targets).flatten().to(device)
    _, target_losses = softmax(hidden, flat_targets, without_padding=True)
    losses = np.zeros((2, *has_target.shape))
    losses[:, rows, times] = target_losses.view(2, -1).cpu().numpy()
    return losses, output.state


def _scores_by_sentence(scored: list[ScoredWindow]) -> Iterator[SentenceScores]:
    """
    Yields the scores of the sentences of some blocks, given all of their windows, in the order of
    the text. Yields nothing for no windows, as before the first block.
    """
    if not scored:
        return
    # Shape: (batch, time)
    forward_losses, backward_losses = np.concatenate([window.losses for window in scored], axis=2)
    sentences = np.concatenate([window.sentences for window in scored], axis=1)
    has_target = sentences >= 0
    # Shape: (targets,), in the order of the text
    forward = forward_losses[has_target]
    backward = _reversed_rows(backward_losses, has_target.sum(axis=1))
    # A sentence begins with the first target of another number.
    begins = np.flatnonzero(np.diff(sentences[has_target], prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(forward)]):
        # In the order of the text `<S>` comes before the words of its sentence.
        words_and_boundary = np.append(backward[begin + 1 : end], backward[begin])
        yield SentenceScores(forward[begin:end], words_and_boundary)


def _reversed_rows(rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """
    Reverses the values in each row, without those after its length, and returns the rows one after
    another, as one array.
    """
    reversed_rows = []
    for row, length in zip(rows, lengths, strict=True):
        reversed_rows.append(row[:length][::-1])
    return np.concatenate(reversed_rows)
