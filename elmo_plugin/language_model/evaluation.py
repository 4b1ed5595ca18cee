"""The probability of each word of a text under both language models of a biLM."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, pack
from elmo_plugin.language_model.blocks import EvaluationWindow
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.windows import batch_arrays


def perplexity(nats_per_token: float) -> float:
    """Returns `exp` of the mean negative log-likelihood, infinite if that is beyond a float."""
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


class SentenceScores(NamedTuple):
    """
    `-log p` in nats, float64, of each word of a sentence and of the boundary predicted last: `</S>` forward,
    `<S>` backward; shape (words + 1,).
    """

    forward: np.ndarray
    backward: np.ndarray

    @property
    def perplexity(self) -> float:
        """The perplexity of both directions and all targets."""
        return perplexity(float(self.forward.sum() + self.backward.sum()) / (2 * len(self.forward)))


@dataclass
class TextScores:
    """
    The sums over the sentences of a text.

    sentences, tokens, unknown: the numbers of sentences, words, and words unknown to the vocabulary
    forward_nats, backward_nats: the sums of `-log p` of all words and of one boundary per sentence
    """

    sentences: int = 0
    tokens: int = 0
    unknown: int = 0
    forward_nats: float = 0.0
    backward_nats: float = 0.0

    @property
    def targets(self) -> int:
        """The number of targets of each direction: the words, and one boundary per sentence."""
        return self.tokens + self.sentences

    def add(self, scores: SentenceScores, is_unknown: np.ndarray) -> None:
        """Adds a sentence; `is_unknown` has shape (words,)."""
        self.sentences += 1
        self.tokens += len(is_unknown)
        self.unknown += int(is_unknown.sum())
        self.forward_nats += float(scores.forward.sum())
        self.backward_nats += float(scores.backward.sum())

    def perplexities(self) -> dict[str, float]:
        """Returns the perplexities of each direction, and of both together."""
        return {
            "forward_perplexity": perplexity(self.forward_nats / self.targets),
            "backward_perplexity": perplexity(self.backward_nats / self.targets),
            "perplexity": perplexity((self.forward_nats + self.backward_nats) / (2 * self.targets)),
        }


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
    """
    Returns the losses, shape (2, batch, time), 0 without a target, and the state after the window.
    Empty rows take no time: both directions read the same number of words of a block.
    """
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
