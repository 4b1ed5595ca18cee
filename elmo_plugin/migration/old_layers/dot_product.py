"""The dot product with `scale_output` of AllenNLP 0.x."""

from math import sqrt

import torch
from allennlp.modules.matrix_attention import DotProductMatrixAttention, MatrixAttention
from overrides import overrides


@MatrixAttention.register("old_scaled_dot_product")
class OldScaledDotProductMatrixAttention(DotProductMatrixAttention):
    """
    Multiplies the dot product of two vectors by the square root of their size, as AllenNLP 0.x did
    for `dot_product` with `scale_output`. AllenNLP 2's `scaled_dot_product` divides by it.

    Registered as a `MatrixAttention` with name "old_scaled_dot_product".
    """

    @overrides
    def forward(self, matrix_1: torch.Tensor, matrix_2: torch.Tensor) -> torch.Tensor:
        """
        Returns the products, shape (batch, rows_1, rows_2), of the rows of two matrices, shapes
        (batch, rows_1, dim) and (batch, rows_2, dim).
        """
        return super().forward(matrix_1, matrix_2) * sqrt(matrix_1.size(-1))
