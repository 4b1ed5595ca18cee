"""Attention over sequences with padding, and pooling of them, as task models combine them."""

import torch
from allennlp.nn.util import masked_softmax
from torch import BoolTensor, Tensor


def masked_attention(similarity: Tensor, values: Tensor, mask: BoolTensor) -> Tensor:
    """
    # Parameters

    similarity : `Tensor`
        Of each query to each value, shape (batch, queries, values).
    values : `Tensor`
        Shape (batch, values, dim).
    mask : `BoolTensor`
        Shape (batch, values), false at padding.

    # Returns

    `Tensor`
        The mean of the values for each query, weighted by the softmax of their similarity to it. Shape
        (batch, queries, dim).
    """
    # Otherwise all weights are lost to padding where every similarity is far below zero. This is exact, too.
    return masked_softmax(similarity, mask, memory_efficient=True) @ values


def biattention(
    first: Tensor, second: Tensor, first_mask: BoolTensor, second_mask: BoolTensor
) -> tuple[Tensor, Tensor]:
    """
    Attends from each of two sequences to the other, where the dot product is the similarity (Chen et al.,
    2017, equations 11 to 13). Shapes are (batch, time, dim), and (batch, time) of the masks.

    # Returns

    `tuple[Tensor, Tensor]`
        What the words of `first` attend to in `second`, of the shape of `first`, and the other way round.
    """
    similarity = first @ second.transpose(1, 2)  # Shape: (batch, time of first, time of second)
    for_first = masked_attention(similarity, second, second_mask)
    return for_first, masked_attention(similarity.transpose(1, 2), first, first_mask)


def self_biattention(encoded: Tensor, mask: BoolTensor) -> Tensor:
    """
    Biattention of a sequence X with itself: with C = softmax(X Xᵀ) X it is [X ; X - C ; X * C]
    (McCann et al., 2017, section 5).

    # Parameters

    encoded : `Tensor`
        X, shape (batch, time, dim).
    mask : `BoolTensor`
        Shape (batch, time), true at the words.

    # Returns

    `Tensor`
        Shape (batch, time, 3 * dim).
    """
    similarity = encoded @ encoded.transpose(1, 2)  # Shape: (batch, time, time)
    attended = masked_attention(similarity, encoded, mask)
    return torch.cat([encoded, encoded - attended, encoded * attended], dim=-1)


def pool(vectors: Tensor, scores: Tensor, mask: BoolTensor) -> Tensor:
    """
    Pools words into one vector by their maximum, mean, minimum, and mean weighted by the softmax of `scores`
    (McCann et al., 2017, section 5).

    # Parameters

    vectors : `Tensor`
        Shape (batch, time, dim).
    scores : `Tensor`
        Shape (batch, time).
    mask : `BoolTensor`
        Shape (batch, time), true at the words, of which each row has one at least.

    # Returns

    `Tensor`
        Shape (batch, 4 * dim).
    """
    padding = ~mask.unsqueeze(-1)
    weights = masked_softmax(scores, mask, memory_efficient=True)  # exact, as in `masked_attention`
    pooled = [
        vectors.masked_fill(padding, -torch.inf).amax(dim=1),
        vectors.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True),
        vectors.masked_fill(padding, torch.inf).amin(dim=1),
        (weights.unsqueeze(-1) * vectors).sum(dim=1),
    ]
    return torch.cat(pooled, dim=-1)
