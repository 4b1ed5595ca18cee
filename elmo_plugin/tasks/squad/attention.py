"""Trilinear attention: from the words of a paragraph to the words of a question, and to one
another.
"""

import torch
from torch import BoolTensor, Tensor, nn

from elmo_plugin.encoders import masked_attention


class TrilinearSimilarity(nn.Module):
    """
    The similarity of two vectors x and y, `w1 · x + w2 · y + w3 · (x * y)` (Seo et al., 2017,
    section 2). Clark and Gardner (2018) add a bias. It is omitted, because it is the same for all
    pairs and so would not change their softmax. In self-attention, it would shift all pairs against
    the logit of attending to nothing. But that logit is learned, so it can shift by itself.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first_projection = nn.Linear(dim, 1, bias=False)
        self.second_projection = nn.Linear(dim, 1, bias=False)
        # Initialized like the two projections, from a uniform distribution.
        self.product_weight = nn.Parameter(torch.empty(dim).uniform_(-(dim**-0.5), dim**-0.5))

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """
        Returns the similarity of each pair of vectors, of shape (batch, first, second), from shapes
        (batch, first, dim) and (batch, second, dim).
        """
        products = (first * self.product_weight) @ second.transpose(1, 2)
        of_first = self.first_projection(first)  # Shape: (batch, first, 1)
        of_second = self.second_projection(second).transpose(1, 2)  # Shape: (batch, 1, second)
        return products + of_first + of_second


class TrilinearBiattention(nn.Module):
    """
    Attends from a paragraph to a question and back (Seo et al., 2017, "attention flow layer").
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.similarity = TrilinearSimilarity(dim)

    def forward(
        self,
        paragraph: Tensor,
        question: Tensor,
        paragraph_mask: BoolTensor,
        question_mask: BoolTensor,
    ) -> Tensor:
        """
        Returns [x ; q ; x * q ; x * p] for each word x of the paragraph, of shape (batch,
        paragraph, 4 * dim).

        q is what x attends to in the question. p is what the question attends to in the paragraph,
        and the same for all x: a mean of all words, weighted by the similarity of each word to the
        word of the question that is most similar to it.
        """
        similarity = self.similarity(paragraph, question)  # Shape: (batch, paragraph, question)
        q = masked_attention(similarity, question, question_mask)  # Shape: (batch, paragraph, dim)
        # Padding of the question must not be the most similar word.
        lowest = torch.finfo(similarity.dtype).min
        similarity = similarity.masked_fill(~question_mask.unsqueeze(1), lowest)
        greatest = similarity.max(dim=2).values.unsqueeze(1)  # Shape: (batch, 1, paragraph)
        p = masked_attention(greatest, paragraph, paragraph_mask)  # Shape: (batch, 1, dim)
        return torch.cat([paragraph, q, paragraph * q, paragraph * p], dim=-1)


class TrilinearSelfAttention(nn.Module):
    """
    Attends from each word to all others of the same text, but not to itself, by their trilinear
    similarity. A word may also attend to nothing: a vector of zeros with a learned logit (Clark and
    Gardner, 2018, section 3.1, and the code that they released).
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.similarity = TrilinearSimilarity(dim)
        # The logit of attending to nothing. It starts from -1, as in their code.
        self.nothing = nn.Parameter(torch.tensor(-1.0))

    def forward(self, words: Tensor, mask: BoolTensor) -> Tensor:
        """
        Returns [x ; a ; x * a], of shape (batch, time, 3 * dim), for each word x and the mean a of
        the words that it attends to. The only word of a text attends to nothing.
        """
        itself = torch.eye(mask.size(1), dtype=torch.bool, device=mask.device)
        others = mask.unsqueeze(1) & ~itself  # Shape: (batch, time, time)
        similarity = self.similarity(words, words).masked_fill(~others, -torch.inf)
        nothing = self.nothing.to(similarity.dtype).expand(*mask.shape, 1)
        weights = torch.cat([similarity, nothing], dim=-1).softmax(dim=-1)
        # Nothing is a vector of zeros, so its weight is left out of the sum.
        weights_of_words = weights[..., :-1]  # Shape: (batch, time, time)
        attended = weights_of_words @ words  # Shape: (batch, time, dim)
        return torch.cat([words, attended, words * attended], dim=-1)
