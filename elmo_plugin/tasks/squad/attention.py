"""Trilinear attention: from the words of a paragraph to those of a question, and to one another."""

import torch
from torch import BoolTensor, Tensor, nn

from elmo_plugin.encoders import masked_attention


class TrilinearSimilarity(nn.Module):
    """
    The similarity of two vectors x and y, `w1 · x + w2 · y + w3 · (x * y)` (Seo et al., 2017, section 2). The
    bias that Clark and Gardner (2018) add is the same for all pairs, and no softmax sees it: there is none.

    # Parameters

    dim : `int`
        The size of both vectors.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.of_first = nn.Linear(dim, 1, bias=False)
        self.of_second = nn.Linear(dim, 1, bias=False)
        self.of_product = _product_weights(dim)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """
        Returns the similarity of each pair, of shape (batch, first, second), from vectors of shape
        (batch, first, dim) and (batch, second, dim).
        """
        products = (first * self.of_product) @ second.transpose(1, 2)
        return products + self.of_first(first) + self.of_second(second).transpose(1, 2)


class TrilinearBiattention(nn.Module):
    """
    Attends from a paragraph to a question and back (Seo et al., 2017, section 2, "attention flow layer").

    # Parameters

    dim : `int`
        The size of the vectors of both.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.similarity = TrilinearSimilarity(dim)

    def forward(
        self, paragraph: Tensor, question: Tensor, paragraph_mask: BoolTensor, question_mask: BoolTensor
    ) -> Tensor:
        """
        # Parameters

        paragraph, question : `Tensor`
            Shapes (batch, paragraph, dim) and (batch, question, dim).
        paragraph_mask, question_mask : `BoolTensor`
            Shapes (batch, paragraph) and (batch, question), true at the words.

        # Returns

        `Tensor`
            Shape (batch, paragraph, 4 * dim): for each word of the paragraph, its vector x, what it attends
            to in the question q, x * q, and x * p, where p is the mean of the words of the paragraph by how
            similar each is to the word of the question that it is most similar to.
        """
        similarity = self.similarity(paragraph, question)
        attended = masked_attention(similarity, question, question_mask)
        lowest = torch.finfo(similarity.dtype).min
        best = similarity.masked_fill(~question_mask.unsqueeze(1), lowest).max(dim=2).values
        back = masked_attention(best.unsqueeze(1), paragraph, paragraph_mask)  # Shape: (batch, 1, dim)
        return torch.cat([paragraph, attended, paragraph * attended, paragraph * back], dim=-1)


class TrilinearSelfAttention(nn.Module):
    """
    Attends from each word x to all others y of the same text, but not to itself, by the similarity
    `w2 · y + w3 · (x * y)` (Clark and Gardner, 2018, section 3.1). What is left out of the trilinear one is
    the same for all y, and no softmax sees it.

    # Parameters

    dim : `int`
        The size of the vectors.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.of_other = nn.Linear(dim, 1, bias=False)
        self.of_product = _product_weights(dim)

    def forward(self, words: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns [x ; a ; x * a] for each word x, where a is what it attends to: shape (batch, time, 3 * dim),
        from (batch, time, dim) and (batch, time). A word that is alone attends to nothing, a vector of zeros.
        """
        others = mask.unsqueeze(1) & ~torch.eye(mask.size(1), dtype=torch.bool, device=mask.device)
        similarity = (words * self.of_product) @ words.transpose(1, 2) + self.of_other(words).transpose(1, 2)
        # The type is that of products, which is another than that of the words under autocast.
        similarity = similarity.masked_fill(~others, torch.finfo(similarity.dtype).min)
        weights = similarity.softmax(dim=-1) * others  # Shape: (batch, time, time)
        attended = weights @ words
        return torch.cat([words, attended, words * attended], dim=-1)


def _product_weights(dim: int) -> nn.Parameter:
    """Returns w3, with the range of initial values that a linear layer has."""
    return nn.Parameter(torch.empty(dim).uniform_(-(dim**-0.5), dim**-0.5))
