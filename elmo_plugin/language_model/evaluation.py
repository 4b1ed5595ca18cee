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


@dataclass(frozen=True)
class EvaluationWindow(Window):
    """A window over blocks. It also says to which sentence each target belongs."""

    sentences: np.ndarray  # Shape: (directions, batch, time), each target's sentence, -1 for none


def evaluation_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int
) -> Iterator[EvaluationWindow]:
    """
    Yields the windows over a text in its order, in blocks: a block is the fewest sentences that
    have at least `block_words` words. Each row reads a block, until the longest of these blocks
    ends; then the next ones begin, all from the zero state. The backward direction reads each block
    from its end. All processes have the same number of windows.

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
    blocks, or fewer in the last group. One chunk of the text is in memory at a time, and before it
    the sentences of earlier chunks that are in no group yet.
    """
    rest = Text(types=np.zeros(0, np.int32), starts=np.zeros(1, np.int64), first_sentence=0)
    last_chunk = len(corpus.chunks) - 1
    for index in range(len(corpus.chunks)):
        text = rest.followed_by(corpus.open(index))
        boundaries = block_boundaries(text.starts, block_words)
        if index == last_chunk:
            # The rest of the text is a block, even if it is shorter than `block_words`; and the
            # last group may have fewer blocks than rows.
            if boundaries[-1] < text.num_sentences:
                boundaries = np.append(boundaries, text.num_sentences)
            num_grouped = len(boundaries) - 1
        else:
            num_groups = (len(boundaries) - 1) // num_rows
            num_grouped = num_groups * num_rows
        for first_block in range(0, num_grouped, num_rows):
            # One boundary more than blocks: the end of the last one.
            group_boundaries = boundaries[first_block : first_block + num_rows + 1]
            yield BlockGroup(text, group_boundaries)
        rest = text.without_first(num_sentences=boundaries[num_grouped])


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """
    Divides sentences into blocks of at least `block_words` words. `starts` are the beginnings of
    the sentences, as in `Text`. Returns the numbers of the sentences with which blocks begin, and
    of the one after the last block. The sentences from there on are too short for another block.
    """
    num_sentences = len(starts) - 1
    # For each sentence, if a block begins with it: the number of the sentence that begins the next
    # block. A number greater than `num_sentences` says that the text ends before the block does.
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
    first_row = layout.own_rows.start
    after_last_row = layout.own_rows.stop
    # The boundaries of this process' blocks. In the last group of a text it may have none.
    own_boundaries = group.boundaries[first_row : after_last_row + 1]
    own = BlockGroup(group.text, own_boundaries)
    forward = _block_rows(own, layout.batch_size, width, reverse=False)
    backward = _block_rows(own, layout.batch_size, width, reverse=True)
    inputs = np.stack([forward.inputs, backward.inputs])
    targets = np.stack([forward.targets, backward.targets])
    sentences = np.stack([forward.sentences, backward.sentences])
    sentences[targets == 0] = -1  # after the end of a block
    for start in range(0, width, steps):
        columns = slice(start, start + steps)
        yield EvaluationWindow(
            inputs=inputs[..., columns],
            targets=targets[..., columns],
            starts_at_zero=start == 0,
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
    blocks = []  # for each block, the indices of its sentences, in the order of reading
    for begin, end in pairwise(group.boundaries):
        block = np.arange(begin, end)
        if reverse:
            block = block[::-1]
        blocks.append(block)
    no_sentences = np.arange(0)  # so that there is an array even without blocks
    sentences = np.concatenate([no_sentences, *blocks])
    items = flatten_sentences(text.types, text.starts, sentences, reverse)
    targets_in_sentence = np.diff(text.starts)[sentences] + 1  # its words and a boundary
    sentence_of_target = np.repeat(text.first_sentence + sentences, targets_in_sentence)
    lengths = np.zeros(num_rows, dtype=np.int64)
    lengths[: len(blocks)] = _count_targets(text.starts, group.boundaries)
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


def read_words(corpus: IndexedCorpus) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yields the words of each sentence, and whether each of them is unknown, shape (words,)."""
    for index in range(len(corpus.chunks)):
        chunk = corpus.open(index)
        is_unknown = corpus.vocabulary_numbers[chunk.types] == corpus.unknown_number
        for begin, end in pairwise(chunk.starts.tolist()):
            words = [corpus.words[word_type] for word_type in chunk.types[begin:end].tolist()]
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
    full softmax, without its row 0, the padding, and without dropout. Scores are kept only until
    the blocks that are read in parallel end. This is faster if the biLM is frozen.
    """
    state: LstmState | None = None
    scored: list[ScoredWindow] = []  # the windows so far over the blocks that are read now
    for window in evaluation_windows(corpus, layout, block_words):
        if window.starts_at_zero:
            yield from _scores_by_sentence(scored)
            state = None
            scored = []
        forward_sentences = window.sentences[0]
        # The same places have a target backward: a block has equally many in both directions.
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
    # Only places with a target are computed: they are packed, as the words of sentences would be.
    packing = pack(lengths=torch.from_numpy(has_target.sum(axis=1)), device=device)
    # The row and the time step in the window of each packed place. Shape: (packed,)
    rows = packing.sentence_of_row.cpu().numpy()
    times = packing.time_of_row.cpu().numpy()
    # Shape: (directions, packed)
    types = np.stack([batch["forward_types"][rows, times], batch["backward_types"][rows, times]])
    targets = np.stack(
        [batch["forward_targets"][rows, times], batch["backward_targets"][rows, times]]
    )
    character_ids = torch.from_numpy(batch["character_ids"]).to(device)
    types_of_directions = torch.from_numpy(types).to(device).unbind()
    settings = bilm.forward_settings(keep_state=True)._replace(
        dropout=False
    )  # even in training mode
    output = bilm.forward_packed(character_ids, types_of_directions, packing, settings, state)
    hidden = torch.cat(output.layers[-1])  # Shape: (directions * packed, dim)
    flat_targets = torch.from_numpy(targets).flatten().to(device)
    _, target_losses = softmax(hidden, flat_targets, without_padding=True)
    losses = np.zeros((2, *has_target.shape))  # Shape: (directions, batch, time)
    losses[:, rows, times] = target_losses.view(2, -1).cpu().numpy()
    return losses, output.state


def _scores_by_sentence(scored: list[ScoredWindow]) -> Iterator[SentenceScores]:
    """
    Yields the scores of each sentence in some blocks, in the order of the text. `scored` are all
    windows over these blocks, one after another; none before the first block.
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
    # A sentence begins with the first target that belongs to another sentence than the one before.
    begins = np.flatnonzero(np.diff(sentence_of_target, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(forward)]):
        # Reversed, `<S>` comes before the words of its sentence; its score belongs after theirs.
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
