"""Sequences with padding: attention and pooling, and the best tags, for a batch of sentences at
once.
"""

from collections.abc import Sequence

import torch
from allennlp.nn.util import masked_softmax
from torch import BoolTensor, Tensor


def masked_attention(similarity: Tensor, values: Tensor, mask: BoolTensor) -> Tensor:
    """
    Returns for each query a mean of the values, shape (batch, queries, dim). Its weights are the
    softmax of the values' similarity to the query, shape (batch, queries, values). The values have
    the shape (batch, values, dim); their mask, shape (batch, values), is false at padding.
    """
    # Without `memory_efficient`, AllenNLP's softmax gives all weight to padding if every similarity
    # is far below zero.
    return masked_softmax(similarity, mask, memory_efficient=True) @ values


def biattention(
    first: Tensor, second: Tensor, first_mask: BoolTensor, second_mask: BoolTensor
) -> tuple[Tensor, Tensor]:
    """
    Attends from each of two sequences, shape (batch, time, dim), to the other, with the dot product
    as similarity (Chen et al., 2017, equations 11 to 13). Returns two tensors: for each word of
    `first` a mean of the vectors in `second`, in the shape of `first`; and for each word of
    `second` a mean of the vectors in `first`.
    """
    similarity = first @ second.transpose(1, 2)  # Shape: (batch, time of first, time of second)
    for_first = masked_attention(similarity, second, second_mask)
    for_second = masked_attention(similarity.transpose(1, 2), first, first_mask)
    return for_first, for_second


def self_biattention(encoded: Tensor, mask: BoolTensor) -> Tensor:
    """
    Computes the biattention of a sequence X with itself: [X ; X - C ; X * C] with C = softmax(X Xᵀ)
    X (McCann et al., 2017, section 5). Returns shape (batch, time, 3 * dim).
    """
    similarity = encoded @ encoded.transpose(1, 2)  # Shape: (batch, time, time)
    attended = masked_attention(similarity, encoded, mask)
    return torch.cat([encoded, encoded - attended, encoded * attended], dim=-1)


def pool(vectors: Tensor, scores: Tensor, mask: BoolTensor) -> Tensor:
    """
    Pools the words of each sentence, at least one, in four ways: by their maximum, their mean,
    their minimum, and their mean weighted by the softmax of `scores` (McCann et al., 2017, section
    5). `vectors` have the shape (batch, time, dim), `scores` the shape (batch, time), and the
    result the shape (batch, 4 * dim).
    """
    padding = ~mask.unsqueeze(-1)
    num_words = mask.sum(dim=1, keepdim=True)
    maximum = vectors.masked_fill(padding, -torch.inf).amax(dim=1)
    mean = vectors.masked_fill(padding, 0.0).sum(dim=1) / num_words
    minimum = vectors.masked_fill(padding, torch.inf).amin(dim=1)
    # Without `memory_efficient`, AllenNLP's softmax gives all weight to padding if every score is
    # far below zero.
    weights = masked_softmax(scores, mask, memory_efficient=True)
    weighted_mean = (weights.unsqueeze(-1) * vectors).sum(dim=1)
    return torch.cat([maximum, mean, minimum, weighted_mean], dim=-1)


def bio_transitions(tags: Sequence[str]) -> tuple[Tensor, Tensor]:
    """
    Returns `transitions` and `start` for `viterbi`, given the BIO tags. `transitions`, shape (tags,
    tags), has the score of the tag of each column after the tag of each row. `start`, shape
    (tags,), has the score of each tag at the start of a sentence. A score is zero if the tag is
    allowed there, otherwise minus infinity. `I-X` is allowed only after `B-X` and `I-X`.
    """
    transitions = torch.zeros(len(tags), len(tags))
    start = torch.zeros(len(tags))
    for column, tag in enumerate(tags):
        if not tag.startswith("I-"):
            continue  # `O` and `B-X` are allowed after any tag, and at the start
        label = tag.removeprefix("I-")
        start[column] = -torch.inf
        for row, tag_before in enumerate(tags):
            if tag_before not in (f"B-{label}", f"I-{label}"):
                transitions[row, column] = -torch.inf
    return transitions, start


@torch.no_grad()
def viterbi(
    logits: Tensor, mask: BoolTensor, transitions: Tensor, start: Tensor, end: Tensor | None = None
) -> list[list[int]]:
    """
    Returns the tags of the words of each sentence: the sequence with the largest sum of `logits`,
    shape (batch, time, tags), `transitions` from one tag to the next, shape (tags, tags), `start`
    for the first tag and, if given, `end` for the last, both of shape (tags,). In `mask`, the words
    come before the padding.
    """
    # The score of the best sequence that ends in each tag, shape (batch, tags).
    score = start + logits[:, 0]
    same_tag = torch.arange(logits.size(2), device=logits.device)
    best_previous = []  # for each later time step, the best tag before each tag
    for time in range(1, logits.size(1)):
        # For each tag, the best score with which it can be reached, and the tag before it.
        best, previous = (score.unsqueeze(2) + transitions).max(dim=1)  # Shapes: (batch, tags)
        is_word = mask[:, time].unsqueeze(1)
        # Padding repeats the last tag, at no cost, so that all sentences end at the same time step.
        score = torch.where(is_word, best + logits[:, time], score)
        best_previous.append(torch.where(is_word, previous, same_tag))
    if end is not None:
        score = score + end
    # From the best last tag back to the first; each tensor has the shape (batch, 1).
    tags = [score.argmax(dim=1, keepdim=True)]
    for previous in reversed(best_previous):
        tags.append(previous.gather(1, tags[-1]))
    tags.reverse()
    paths = torch.cat(tags, dim=1).tolist()
    lengths = mask.sum(dim=1).tolist()
    return [path[:length] for path, length in zip(paths, lengths, strict=True)]
