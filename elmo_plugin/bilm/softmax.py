"""The distribution over the next word: over the whole vocabulary, or over a sample of it to train on."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from elmo_plugin.bilm.errors import BiLmError

_LOGITS_AT_A_TIME = 1 << 24  # bounds the memory of the full softmax when no gradient is needed


class VocabularySoftmax(nn.Module):
    """
    A softmax over a vocabulary that lies in the order of descending frequency, shared by both directions.

    # Parameters

    num_words : `int`
        The size of the vocabulary.
    dim : `int`
        The size of the hidden states.
    """

    def __init__(self, num_words: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_words, dim))
        self.bias = nn.Parameter(torch.zeros(num_words))
        nn.init.normal_(self.weight, std=dim**-0.5)

    def forward(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """
        The full softmax.

        # Parameters

        hidden : `Tensor`
            Shape (tokens, dim).
        targets : `Tensor`
            Shape (tokens,), the number of each token's word.

        # Returns

        `Tensor`
            Shape (tokens,), `-log p(target | hidden)` in nats.
        """
        if torch.is_grad_enabled() or not len(targets):
            return self._full(hidden, targets)
        rows = max(1, _LOGITS_AT_A_TIME // len(self.weight))
        pairs = zip(hidden.split(rows), targets.split(rows), strict=True)
        return torch.cat([self._full(*pair) for pair in pairs])

    def _full(self, hidden: Tensor, targets: Tensor) -> Tensor:
        logits = nn.functional.linear(hidden, self.weight, self.bias)
        return nn.functional.cross_entropy(logits, targets, reduction="none")

    def sampled(self, hidden: Tensor, targets: Tensor, num_negatives: int) -> Tensor:
        """
        The sampled softmax of Jean et al. (2015): each target against one sample of other words, drawn by
        frequency rank, with logits corrected by the logarithm of how often a word is expected in the sample.
        Its value is a loss to train on and no likelihood: no perplexity follows from it.

        # Parameters

        hidden, targets : `Tensor`
            As for the full softmax.
        num_negatives : `int`
            The number of distinct words in the sample, less than the vocabulary has.

        # Returns

        `Tensor`
            Shape (tokens,).
        """
        negatives, tries = sample_log_uniform(num_negatives, len(self.weight))
        negatives = negatives.to(targets.device)
        weight, bias = self.weight[negatives], self.bias[negatives]
        correction = log_expected_count(negatives, tries, len(self.weight))
        negative_logits = torch.addmm(bias - correction, hidden, weight.t())
        is_target = targets.unsqueeze(1) == negatives
        negative_logits = negative_logits.masked_fill(is_target, -math.inf)
        target_logits = (hidden * self.weight[targets]).sum(dim=1) + self.bias[targets]
        target_logits = target_logits - log_expected_count(targets, tries, len(self.weight))
        total = torch.logaddexp(target_logits, negative_logits.logsumexp(dim=1))
        return total - target_logits


def sample_log_uniform(num_samples: int, num_words: int) -> tuple[Tensor, int]:
    """
    Draws words by Zipf's law, `p(k) = log((k + 2) / (k + 1)) / log(num_words + 1)` for rank k from 0, until
    `num_samples` distinct ones are there. Uses torch's random state.

    # Returns

    `Tensor`
        Shape (num_samples,), distinct ranks.
    `int`
        How many draws that took.
    """
    if not 0 < num_samples < num_words:
        raise BiLmError(
            f"cannot sample {num_samples} negative words from a vocabulary of {num_words}: "
            "give a smaller number, or none to use the full softmax"
        )
    draws = np.empty(0, dtype=np.int64)
    while True:
        uniform = torch.rand(2 * num_samples + len(draws), dtype=torch.float64).numpy()
        ranks = np.exp(uniform * math.log(num_words + 1)).astype(np.int64) - 1
        draws = np.concatenate([draws, np.clip(ranks, 0, num_words - 1)])
        words, first_draw = np.unique(draws, return_index=True)
        if len(words) >= num_samples:
            order = np.argsort(first_draw)[:num_samples]
            return torch.from_numpy(words[order]), int(first_draw[order[-1]]) + 1


def log_expected_count(words: Tensor, tries: int, num_words: int) -> Tensor:
    """How often a word is expected among the distinct ones of `tries` draws: `log(1 - (1 - p) ** tries)`."""
    rank = words.double()
    probability = torch.log((rank + 2) / (rank + 1)) / math.log(num_words + 1)
    return torch.log(-torch.expm1(tries * torch.log1p(-probability))).float()
