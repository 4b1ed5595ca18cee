"""Text in its order, in blocks, and the probability of each of its words under both language models."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, pack
from elmo_plugin.language_model.chunks import IndexedCorpus, TypeTable
from elmo_plugin.language_model.windows import (
    StreamLayout,
    Window,
    append_to_rows,
    batch_arrays,
    flatten_sentences,
)


class EvaluationWindow(NamedTuple):
    """What both directions read; whether blocks begin here; the number of each target's sentence."""

    forward: Window
    backward: Window
    stream_starts: bool
    sentences: np.ndarray  # Shape: (directions, batch, time)


class TextBuffer(NamedTuple):
    """Consecutive sentences, see `CorpusChunk`: chunks are appended, blocks removed from the beginning."""

    types: np.ndarray
    starts: np.ndarray
    table: TypeTable
    first: int  # the number of the first sentence in the whole text

    def append(self, corpus: IndexedCorpus, index: int) -> "TextBuffer":
        """Returns this text followed by a chunk."""
        chunk = corpus.open(index)
        table, types = corpus.type_table(chunk).concat(self.table, self.types)
        starts = np.concatenate([self.starts, chunk.starts[1:] + self.starts[-1]])
        return TextBuffer(np.concatenate([types, chunk.types.astype(np.int32)]), starts, table, self.first)

    def drop(self, sentences: int) -> "TextBuffer":
        """Returns this text without its first sentences."""
        begin = self.starts[sentences]
        starts = self.starts[sentences:] - begin
        return TextBuffer(self.types[begin:], starts, self.table, self.first + sentences)


def evaluation_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int
) -> Iterator[EvaluationWindow]:
    """
    Yields all words of the text, each in the same context whatever the number of rows, time steps and
    processes: a model that starts each block from the zero state gives the same probabilities. A block is the
    fewest sentences that have at least `block_words` words. Each row reads a block, until the longest of them
    ends; then the next ones begin. The backward direction reads each block from its end. All processes have
    the same number of windows.
    """
    for text, blocks in block_groups(corpus, layout.rows, block_words):
        yield from _group_windows(text, blocks, layout)


def block_groups(
    corpus: IndexedCorpus, num_rows: int, block_words: int
) -> Iterator[tuple[TextBuffer, np.ndarray]]:
    """
    Yields a part of the text, and the numbers of its sentences that begin the blocks to be read in parallel,
    followed by the end of the last block. There are `num_rows` blocks, except in the last group.
    """
    text = TextBuffer(np.zeros(0, np.int32), np.zeros(1, np.int64), corpus.empty_table(), first=0)
    for index in range(len(corpus.chunks)):
        text = text.append(corpus, index)
        blocks = block_boundaries(text.starts, block_words)
        whole = (len(blocks) - 1) // num_rows * num_rows
        if index == len(corpus.chunks) - 1:
            blocks = np.unique([*blocks, len(text.starts) - 1])
            whole = len(blocks) - 1
        for group in range(0, whole, num_rows):
            yield text, blocks[group : group + num_rows + 1]
        text = text.drop(blocks[whole])


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """Returns the numbers of the sentences with which blocks begin, and the end of the last whole block."""
    following = np.searchsorted(starts, starts[:-1] + block_words).tolist()
    boundaries = [0]
    while boundaries[-1] < len(following) and following[boundaries[-1]] < len(starts):
        boundaries.append(following[boundaries[-1]])
    return np.array(boundaries)


def count_targets(starts: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Counts the targets in each block: its words, and the end of each sentence."""
    return np.diff(starts[blocks]) + np.diff(blocks)


def _group_windows(text: TextBuffer, blocks: np.ndarray, layout: StreamLayout) -> Iterator[EvaluationWindow]:
    steps = layout.unroll_steps
    width = -(-count_targets(text.starts, blocks).max() // steps) * steps
    own = blocks[layout.own.start : layout.own.stop + 1]
    rows = np.stack(
        [_block_rows(text, own, layout.batch_size, width, reverse=reverse) for reverse in (False, True)]
    )
    rows[:, 2][rows[:, 1] == 0] = -1  # no sentence without a target
    for start in range(0, width, steps):
        window = rows[..., start : start + steps]  # Shape: (directions, 3, rows, steps)
        forward, backward = (Window(inputs, targets, text.table) for inputs, targets, _ in window)
        yield EvaluationWindow(forward, backward, start == 0, window[:, 2])


def _block_rows(text: TextBuffer, blocks: np.ndarray, num_rows: int, width: int, reverse: bool) -> np.ndarray:
    """Returns inputs, targets and the numbers of their sentences, one block per row: (3, rows, width)."""
    runs = [np.arange(begin, end) for begin, end in pairwise(blocks)]
    sentences = np.concatenate([np.arange(0), *(run[::-1] if reverse else run for run in runs)])
    numbers = np.repeat(text.first + sentences, np.diff(text.starts)[sentences] + 1)
    items = np.stack([*flatten_sentences(text.types, text.starts, sentences, reverse=reverse), numbers])
    lengths = np.zeros(num_rows, dtype=np.int64)
    lengths[: len(runs)] = count_targets(text.starts, blocks)
    empty = np.zeros((3, num_rows, width), dtype=np.int32)
    return append_to_rows(empty, np.zeros_like(lengths), items, lengths)


def perplexity(nats_per_token: float) -> float:
    """Returns `exp` of the mean negative log-likelihood, infinite if that is beyond a float."""
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


def perplexities(forward: float, backward: float) -> dict[str, float]:
    """Returns the perplexities of each direction, and of both together, given the losses per token."""
    return {
        "forward_perplexity": perplexity(forward),
        "backward_perplexity": perplexity(backward),
        "perplexity": perplexity(0.5 * (forward + backward)),
    }


class SentenceScores(NamedTuple):
    """`-log p` in nats of each word of a sentence and of its boundary, predicted last: (words + 1,)."""

    forward: np.ndarray
    backward: np.ndarray


def read_words(corpus: IndexedCorpus) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yields the words of each sentence, and whether each of them is unknown, shape (words,)."""
    for number in range(len(corpus.chunks)):
        chunk = corpus.open(number)
        is_unknown = chunk.vocabulary_numbers(corpus.numbers, corpus.unknown) == corpus.unknown
        for begin, end in pairwise(chunk.starts.tolist()):
            types = chunk.types[begin:end]
            yield [chunk.words[word] for word in types.tolist()], is_unknown[types]


def score_sentences(
    bilm: BiLm, softmax: VocabularySoftmax, windows: Iterable[EvaluationWindow]
) -> Iterator[SentenceScores]:
    """
    Scores each sentence of a text with the full softmax, in the order of the text. Only the blocks that are
    read in parallel are in memory. The biLM is in evaluation mode, faster if frozen.
    """
    state: LstmState | None = None
    read: list[tuple[np.ndarray, np.ndarray]] = []  # losses and sentence numbers of these blocks
    for window in windows:
        if window.stream_starts:
            yield from _in_order(read)
            state, read = None, []
        losses, state = _read(bilm, softmax, window, state)
        read.append((losses, window.sentences))
    yield from _in_order(read)


@torch.no_grad()
def _read(
    bilm: BiLm, softmax: VocabularySoftmax, window: EvaluationWindow, state: LstmState | None
) -> tuple[np.ndarray, LstmState | None]:
    """Returns the losses, shape (2, batch, time), 0 without a target, and the state after the window."""
    device = softmax.weight.device
    packing = pack(torch.from_numpy((window.sentences[0] >= 0).sum(axis=1)), device)
    places = packing.sentence.cpu().numpy(), packing.time.cpu().numpy()
    batch = batch_arrays(window.forward, window.backward)
    types, targets = (
        torch.from_numpy(np.stack([batch[f"forward_{name}"][places], batch[f"backward_{name}"][places]]))
        for name in ("types", "targets")
    )
    character_ids = torch.from_numpy(batch["character_ids"]).to(device)
    rows = types.to(device).unbind()
    output = bilm.forward_packed(
        character_ids, rows, packing, state, keep_state=True, derived=bilm.derived_values()
    )
    _, target_losses = softmax(torch.cat(output.layers[-1]), targets.flatten().to(device))
    losses = np.zeros(window.sentences.shape)
    losses[:, places[0], places[1]] = target_losses.view(2, -1).cpu().numpy()
    return losses, output.state


def _in_order(read: list[tuple[np.ndarray, np.ndarray]]) -> Iterator[SentenceScores]:
    """Yields the sentences of some blocks from all of their windows."""
    if not read:
        return
    losses, numbers = (np.concatenate(parts, axis=2) for parts in zip(*read, strict=True))
    has_target = numbers[0] >= 0
    forward = losses[0][has_target]
    rows = zip(losses[1], has_target.sum(axis=1), strict=True)
    backward = np.concatenate([row[:length][::-1] for row, length in rows])  # `<S>` comes before the words
    begins = np.flatnonzero(np.diff(numbers[0][has_target], prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(forward)]):
        yield SentenceScores(forward[begin:end], np.append(backward[begin + 1 : end], backward[begin]))
