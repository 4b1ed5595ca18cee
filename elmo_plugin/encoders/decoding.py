"""The best sequences of tags, for a batch of sentences at once."""

from collections.abc import Sequence

import torch
from torch import BoolTensor, Tensor


def bio_transitions(tags: Sequence[str]) -> tuple[Tensor, Tensor]:
    """
    Returns zero if a BIO tag may follow another, shape (tags, tags), and if it may be the first, shape
    (tags,); otherwise minus infinity. `I-X` may follow only `B-X` and `I-X`.
    """
    allowed = [
        [not after.startswith("I-") or before in (after, f"B-{after[2:]}") for after in tags]
        for before in tags
    ]
    first = [not tag.startswith("I-") for tag in tags]
    return _penalty(allowed), _penalty(first)


def _penalty(allowed: list[list[bool]] | list[bool]) -> Tensor:
    table = torch.tensor(allowed, dtype=torch.bool)
    return torch.zeros(table.shape).masked_fill(~table, -torch.inf)


@torch.no_grad()
def forward_sums(logits: Tensor, transitions: Tensor, start: Tensor) -> Tensor:
    """
    Returns the logarithm of the sum of all sequences of tags that end in each tag of each word of a sentence;
    all shapes are as in `viterbi`, without a batch.
    """
    sums = [start + logits[0]]
    for row in logits[1:]:
        sums.append((sums[-1].unsqueeze(1) + transitions).logsumexp(dim=0) + row)
    return torch.stack(sums)  # Shape: (time, tags)


@torch.no_grad()
def viterbi(
    logits: Tensor, mask: BoolTensor, transitions: Tensor, start: Tensor, end: Tensor | None = None
) -> list[list[int]]:
    """
    Returns the tags of the words of each sentence: the sequence with the largest sum of `logits`, shape
    (batch, time, tags), `transitions` from one tag to the next, shape (tags, tags), `start` for the first tag
    and `end` for the last, shape (tags,). In `mask`, the words come before the padding.
    """
    score = start + logits[:, 0]  # Shape: (batch, tags), of the best sequence that ends in each tag
    same_tag = torch.arange(logits.size(2), device=logits.device)
    best_previous = []
    for time in range(1, logits.size(1)):
        best, previous = (score.unsqueeze(2) + transitions).max(dim=1)
        is_word = mask[:, time].unsqueeze(1)
        # Padding repeats the last tag, at no cost, so that all sentences end at the same time step.
        score = torch.where(is_word, best + logits[:, time], score)
        best_previous.append(torch.where(is_word, previous, same_tag))
    if end is not None:
        score = score + end
    tags = [score.argmax(dim=1, keepdim=True)]  # each of shape (batch, 1), the last time step first
    for previous in reversed(best_previous):
        tags.append(previous.gather(1, tags[-1]))
    paths = torch.cat(tags[::-1], dim=1).tolist()
    return [path[:length] for path, length in zip(paths, mask.sum(dim=1).tolist(), strict=True)]
