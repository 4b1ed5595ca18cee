"""The perplexity of text, and the probability of each of its words under both language models."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from elmo_plugin.bilm import BiLm, LstmState, VocabularySoftmax, pack
from elmo_plugin.language_model.blocks import evaluation_windows
from elmo_plugin.language_model.chunks import IndexedCorpus
from elmo_plugin.language_model.windows import StreamLayout, batch_arrays


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
