"""Text in its order, in blocks, and the probability of each of its words under both language
models.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, pack
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.windows import (
    StreamLayout,
    append_to_rows,
    batch_arrays,
    flatten_sentences,
)


class Text(NamedTuple):
    """Consecutive sentences, as `IndexedCorpus.open` returns them."""

    types: np.ndarray
    starts: np.ndarray
    first: int  # the number of the first sentence in the whole text


def evaluation_windows(
    corpus: IndexedCorpus, layout: StreamLayout, block_words: int
) -> Iterator[tuple[np.ndarray, bool]]:
    """
    Yields all words of the text, each in the same context whatever the number of rows, time steps
    and processes: a model that starts each block from the zero state gives the same probabilities.
    A block is the fewest sentences that have at least `block_words` words. Each row reads a block,
    until the longest of them ends; then the next ones begin. The backward direction reads each
    block from its end. All processes have the same number of windows. A window has inputs, targets
    and the number of each target's sentence, -1 for none, shape (directions, 3, batch, time); with
    it comes whether blocks begin here.
    """
    for text, blocks in block_groups(corpus, layout.rows, block_words):
        yield from _group_windows(text, blocks, layout)


def count_evaluation_windows(corpus: IndexedCorpus, layout: StreamLayout, block_words: int) -> int:
    """Returns the number of windows."""
    groups = block_groups(corpus, layout.rows, block_words)
    return sum(_width(text, blocks, layout) for text, blocks in groups) // layout.unroll_steps


def block_groups(
    corpus: IndexedCorpus, num_rows: int, block_words: int
) -> Iterator[tuple[Text, np.ndarray]]:
    """
    Yields a part of the text, and the numbers of its sentences that begin the blocks to be read in
    parallel, followed by the end of the last block. There are `num_rows` blocks, except in the last
    group.
    """
    types, starts, first = np.zeros(0, np.int32), np.zeros(1, np.int64), 0
    for index in range(len(corpus.chunks)):
        more_types, more_starts = corpus.open(index)
        types = np.concatenate([types, more_types])
        starts = np.concatenate([starts, more_starts[1:] + starts[-1]])
        blocks = block_boundaries(starts, block_words)
        whole = (len(blocks) - 1) // num_rows * num_rows
        if index == len(corpus.chunks) - 1:
            blocks = np.unique([*blocks, len(starts) - 1])
            whole = len(blocks) - 1
        for group in range(0, whole, num_rows):
            yield Text(types, starts, first), blocks[group : group + num_rows + 1]
        done = blocks[whole]
        types, starts, first = types[starts[done] :], starts[done:] - starts[done], first + done


def block_boundaries(starts: np.ndarray, block_words: int) -> np.ndarray:
    """
    Returns the numbers of the sentences with which blocks begin, and the end of the last whole
    block.
    """
    following = np.searchsorted(starts, starts[:-1] + block_words).tolist()
    boundaries = [0]
    while boundaries[-1] < len(following) and following[boundaries[-1]] < len(starts):
        boundaries.append(following[boundaries[-1]])
    return np.array(boundaries)


def count_targets(starts: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Counts the targets in each block: its words, and the end of each sentence."""
    return np.diff(starts[blocks]) + np.diff(blocks)


def _width(text: Text, blocks: np.ndarray, layout: StreamLayout) -> int:
    """Returns the length of the rows, whole windows, that the longest block needs."""
    return -(-count_targets(text.starts, blocks).max() // layout.unroll_steps) * layout.unroll_steps


def _group_windows(
    text: Text, blocks: np.ndarray, layout: StreamLayout
) -> Iterator[tuple[np.ndarray, bool]]:
    width = _width(text, blocks, layout)
    own = blocks[layout.own.start : layout.own.stop + 1]
    rows = np.stack(
        [
            _block_rows(text, own, layout.batch_size, width, reverse=reverse)
            for reverse in (False, True)
        ]
    )
    rows[:, 2][rows[:, 1] == 0] = -1  # no sentence without a target
    for start in range(0, width, layout.unroll_steps):
        yield rows[..., start : start + layout.unroll_steps], start == 0


def _block_rows(
    text: Text, blocks: np.ndarray, num_rows: int, width: int, reverse: bool
) -> np.ndarray:
    """
    Returns inputs, targets and the numbers of their sentences, one block per row: (3, rows, width).
    """
    runs = [np.arange(begin, end) for begin, end in pairwise(blocks)]
    sentences = np.concatenate([np.arange(0), *(run[::-1] if reverse else run for run in runs)])
    numbers = np.repeat(text.first + sentences, np.diff(text.starts)[sentences] + 1)
    items = np.stack(
        [*flatten_sentences(text.types, text.starts, sentences, reverse=reverse), numbers]
    )
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
        is_unknown = corpus.numbers[types] == corpus.unknown
        for begin, end in pairwise(starts.tolist()):
            yield [corpus.words[word] for word in types[begin:end].tolist()], is_unknown[begin:end]


def score_sentences(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    corpus: IndexedCorpus,
    layout: StreamLayout,
    block_words: int,
) -> Iterator[SentenceScores]:
    """
    Scores each sentence of a text with the full softmax, without its row 0, in the order of the
    text. Only the blocks that are read in parallel are in memory. The biLM is in evaluation mode,
    faster if frozen.
    """
    state: LstmState | None = None
    read: list[tuple[np.ndarray, np.ndarray]] = []  # losses and sentence numbers of these blocks
    for window, blocks_begin in evaluation_windows(corpus, layout, block_words):
        if blocks_begin:
            yield from _in_order(read)
            state, read = None, []
        sentences = window[:, 2]
        losses, state = _read(bilm, softmax, batch_arrays(corpus, window), sentences[0] >= 0, state)
        read.append((losses, sentences))
    yield from _in_order(read)


@torch.no_grad()
def _read(
    bilm: BiLm,
    softmax: VocabularySoftmax,
    batch: dict[str, np.ndarray],
    has_target: np.ndarray,
    state: LstmState | None,
) -> tuple[np.ndarray, LstmState | None]:
    """
    Returns the losses, shape (2, batch, time), 0 without a target, and the state after the window.
    """
    device = softmax.weight.device
    packing = pack(torch.from_numpy(has_target.sum(axis=1)), device)
    places = packing.sentence.cpu().numpy(), packing.time.cpu().numpy()
    types, targets = (
        torch.from_numpy(
            np.stack([batch[f"forward_{name}"][places], batch[f"backward_{name}"][places]])
        )
        for name in ("types", "targets")
    )
    character_ids = torch.from_numpy(batch["character_ids"]).to(device)
    rows = types.to(device).unbind()
    settings = bilm.settings(keep_state=True)._replace(dropout=False)
    output = bilm.forward_packed(character_ids, rows, packing, settings, state)
    hidden = torch.cat(output.layers[-1])
    _, target_losses = softmax(hidden, targets.flatten().to(device), without_padding=True)
    losses = np.zeros((2, *has_target.shape))
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
    backward = np.concatenate(
        [row[:length][::-1] for row, length in rows]
    )  # `<S>` comes before the words
    begins = np.flatnonzero(np.diff(numbers[0][has_target], prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(forward)]):
        yield SentenceScores(
            forward[begin:end], np.append(backward[begin + 1 : end], backward[begin])
        )
