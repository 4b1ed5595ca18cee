"""The best sequences of tags, for a batch of sentences at once."""

from collections.abc import Sequence

import torch
from torch import BoolTensor, Tensor


def bio_transitions(tags: Sequence[str]) -> tuple[Tensor, Tensor]:
    """
    Says which BIO tags may follow one another: `I-X` only `B-X` and `I-X`.

    # Parameters

    tags : `Sequence[str]`
        The tags, in order of their indices.

    # Returns

    `tuple[Tensor, Tensor]`
        Zero where a tag may follow another, shape (tags, tags), and where it may be the first one, shape
        (tags,); minus infinity elsewhere.
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
def viterbi(
    logits: Tensor, mask: BoolTensor, transitions: Tensor, start: Tensor, end: Tensor | None = None
) -> list[list[int]]:
    """
    Finds for each sentence the sequence of tags with the largest sum of logits and transitions.

    # Parameters

    logits : `Tensor`
        Of each tag for each word, shape (batch, time, tags).
    mask : `BoolTensor`
        Shape (batch, time), true at the words, which come before the padding.
    transitions, start : `Tensor`
        What is added for one tag after another, shape (tags, tags), and for the first, shape (tags,).
    end : `Tensor | None`, optional (default = `None`)
        What is added for the last tag, shape (tags,).

    # Returns

    `list[list[int]]`
        The indices of the tags of each sentence, as many as it has words.
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
