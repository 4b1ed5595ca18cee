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


def perplexity(nats_per_token: float) -> float:
    """
    Returns `exp` of the mean negative log-likelihood; infinity if a float cannot represent it.
    """
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


def perplexities(forward_nats: float, backward_nats: float) -> dict[str, float]:
    """
    Returns the perplexity of each direction, and of both together, given each direction's mean
    negative log-likelihood per token.
    """
    return {
        "forward_perplexity": perplexity(forward_nats),
        "backward_perplexity": perplexity(backward_nats),
        "perplexity": perplexity(0.5 * (forward_nats + backward_nats)),
    }


class SentenceScores(NamedTuple):
    """
    `-log p` in nats of each word of a sentence, in the order of the text, and then of the boundary
    that is predicted last: `</S>` forward, `<S>` backward. Both have the shape (words + 1,).
    """

    forward: np.ndarray
    backward: np.ndarray


class CorpusSentence(NamedTuple):
    """A sentence of a corpus."""

    words: list[str]
    is_unknown: np.ndarray  # Shape: (words,), whether the vocabulary lacks the word


def corpus_sentences(corpus: IndexedCorpus) -> Iterator[CorpusSentence]:
    """Yields the sentences of a corpus, in the order of the text."""
    for index in range(len(corpus.chunks)):
        chunk = corpus.open(index)
        is_unknown = corpus.vocabulary_numbers[chunk.types] == corpus.unknown_number
        for begin, end in pairwise(chunk.starts.tolist()):
            words = [corpus.words[word_type] for word_type in chunk.types[begin:end].tolist()]
            yield CorpusSentence(words, is_unknown[begin:end])


def score_sentences(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    corpus: IndexedCorpus,
    layout: StreamLayout,
    block_words: int,
) -> Iterator[SentenceScores]:
    """
    Yields the scores of each sentence of a text, in the order of the text. They are computed by the
    full softmax, without its row 0, the padding, and without dropout. Only the scores of the blocks
    that are read in parallel are in memory. A frozen biLM is faster, because it computes the vector
    of a word only once.
    """
    state: LstmState | None = None
    scored: list[ScoredWindow] = []  # the windows so far over the blocks that are being read
    for window in evaluation_windows(corpus, layout, block_words):
        if window.starts_at_zero:
            yield from _scores_by_sentence(scored)
            state = None
            scored = []
        forward_sentences = window.sentences[0]
        # A block has as many targets backward as forward, so both directions have them at the same
        # places.
        has_target = forward_sentences >= 0
        batch = batch_arrays(corpus, window)
        losses, state = _score_window(bilm, softmax, batch, has_target, state)
        scored.append(ScoredWindow(losses, forward_sentences))
    yield from _scores_by_sentence(scored)


class ScoredWindow(NamedTuple):
    """The losses of a window, and the sentences that the forward ones belong to."""

    losses: np.ndarray  # Shape: (directions, batch, time), 0 without a target
    forward_sentences: np.ndarray  # Shape: (batch, time), -1 without a target


@torch.no_grad()
def _score_window(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    batch: dict[str, np.ndarray],
    has_target: np.ndarray,
    state: LstmState | None,
) -> tuple[np.ndarray, LstmState | None]:
    """
    Runs the biLM over a window, given as a batch of `batch_arrays`, starting from `state`, or from
    zero without one. `has_target`, shape (batch, time), marks the places that have a target.

    Returns the losses, shape (directions, batch, time), 0 without a target; and the state after the
    window.
    """
    device = softmax.weight.device
    # Only places with a target are computed. They are packed like the words of sentences: to the
    # packing, each row of the window is a sentence.
    packing = pack(lengths=torch.from_numpy(has_target.sum(axis=1)), device=device)
    # The row and the time step of the window at which each packed place was. Shape: (packed,)
    rows = packing.sentence_of_row.cpu().numpy()
    times = packing.time_of_row.cpu().numpy()
    # Shape: (directions, packed)
    types = np.stack([batch["forward_types"][rows, times], batch["backward_types"][rows, times]])
    targets = np.stack(
        [batch["forward_targets"][rows, times], batch["backward_targets"][rows, times]]
    )
    character_ids = torch.from_numpy(batch["character_ids"]).to(device)
    types_of_directions = torch.from_numpy(types).to(device).unbind()
    # No dropout, even if the biLM is in training mode.
    settings = bilm.forward_settings(keep_state=True, dropout=False)
    output = bilm.forward_packed(character_ids, types_of_directions, packing, settings, state)
    hidden = torch.cat(output.layers[-1])  # Shape: (directions * packed, dim)
    flat_targets = torch.from_numpy(targets).flatten().to(device)
    _, target_losses = softmax(hidden, flat_targets, without_padding=True)
    losses = np.zeros((2, *has_target.shape))  # Shape: (directions, batch, time)
    packed_losses = target_losses.view(2, -1)  # Shape: (directions, packed)
    losses[:, rows, times] = packed_losses.cpu().numpy()
    return losses, output.state


def _scores_by_sentence(scored: list[ScoredWindow]) -> Iterator[SentenceScores]:
    """
    Yields the scores of each sentence in the blocks of a group, in the order of the text. `scored`
    has all windows over these blocks, in their order. It is empty before the first group.
    """
    if not scored:
        return
    # The windows side by side, so that each row has its whole block. Shape: (batch, time)
    forward_losses, backward_losses = np.concatenate([window.losses for window in scored], axis=2)
    sentences = np.concatenate([window.forward_sentences for window in scored], axis=1)
    has_target = sentences >= 0
    # One row after another, in the order of the text. Shape: (targets,)
    sentence_of_target = sentences[has_target]
    forward = forward_losses[has_target]
    # The backward direction has read each row from the end of its block.
    backward = _reversed_rows(backward_losses, lengths=has_target.sum(axis=1))
    # A target begins a sentence if the target before it belongs to another sentence. The number
    # before the first target is -1, so it begins a sentence as well.
    begins = np.flatnonzero(np.diff(sentence_of_target, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(forward)]):
        # `<S>` is predicted last. In the reversed row its score comes first, before the words.
        words_and_boundary = np.append(backward[begin + 1 : end], backward[begin])
        yield SentenceScores(forward[begin:end], words_and_boundary)


def _reversed_rows(rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """
    Returns the first `lengths[i]` values of each row i in reverse order, one row after another, as
    one array of shape (sum of lengths,).
    """
    reversed_rows = []
    for row, length in zip(rows, lengths, strict=True):
        reversed_rows.append(row[:length][::-1])
    return np.concatenate(reversed_rows)
