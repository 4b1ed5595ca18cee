"""Trilinear attention: from the words of a paragraph to those of a question, and to one another."""

import torch
from torch import BoolTensor, Tensor, nn

from elmo_plugin.encoders import masked_attention


class TrilinearSimilarity(nn.Module):
    """
    The similarity of two vectors x and y, `w1 · x + w2 · y + w3 · (x * y)` (Seo et al., 2017, section 2). The
    bias that Clark and Gardner (2018) add is the same for all pairs. It would not change a softmax, and would
    duplicate the logit of nothing, so it is left out.

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
    Attends from each word to all others of the same text, but not to itself, by their trilinear similarity,
    or to nothing, a vector of zeros, whose logit is learned (Clark and Gardner, 2018, section 3.1, and the
    code that they released).

    # Parameters

    dim : `int`
        The size of the vectors.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.similarity = TrilinearSimilarity(dim)
        self.nothing = nn.Parameter(torch.tensor(-1.0))

    def forward(self, words: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns [x ; a ; x * a] for each word x, where a is what it attends to: shape (batch, time, 3 * dim),
        from (batch, time, dim) and (batch, time). A word that is alone attends to nothing.
        """
        others = mask.unsqueeze(1) & ~torch.eye(mask.size(1), dtype=torch.bool, device=mask.device)
        similarity = self.similarity(words, words).masked_fill(~others, -torch.inf)
        nothing = self.nothing.to(similarity.dtype).expand(*mask.shape, 1)
        weights = torch.cat([similarity, nothing], dim=-1).softmax(dim=-1)[..., :-1]
        attended = weights @ words  # Shape: (batch, time, dim)
        return torch.cat([words, attended, words * attended], dim=-1)


def _product_weights(dim: int) -> nn.Parameter:
    """Returns w3, with the range of initial values that a linear layer has."""
    return nn.Parameter(torch.empty(dim).uniform_(-(dim**-0.5), dim**-0.5))
