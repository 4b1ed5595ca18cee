"""The best sequences of BIO tags, for a batch of sentences at once."""

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


def viterbi(logits: Tensor, mask: BoolTensor, transitions: Tensor, start: Tensor) -> list[list[int]]:
    """
    Finds for each sentence the sequence of tags with the largest sum of logits and transitions.

    # Parameters

    logits : `Tensor`
        Of each tag for each word, shape (batch, time, tags).
    mask : `BoolTensor`
        Shape (batch, time), true at the words, which come before the padding.
    transitions, start : `Tensor`
        What is added for one tag after another, shape (tags, tags), and for the first, shape (tags,).

    # Returns

    `list[list[int]]`
        The indices of the tags of each sentence, as many as it has words.
    """
    lengths = mask.sum(dim=1).tolist()
    score = start + logits[:, 0]  # Shape: (batch, tags), of the best sequence that ends in each tag
    scores, best_previous = [score], []
    for time in range(1, logits.size(1)):
        best, previous = (score.unsqueeze(2) + transitions).max(dim=1)
        score = best + logits[:, time]
        scores.append(score)
        best_previous.append(previous)
    last_tags = torch.stack(scores).argmax(dim=2).tolist()
    back = [previous.tolist() for previous in best_previous]
    paths = []
    for row, length in enumerate(lengths):
        path = [last_tags[length - 1][row]] if length else []
        for time in range(length - 2, -1, -1):
            path.append(back[time][row][path[-1]])
        paths.append(path[::-1])
    return paths
