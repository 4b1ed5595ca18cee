"""The scaled dot product of AllenNLP 0.x against its formula."""

from math import sqrt

import torch
from allennlp.common import Params
from allennlp.modules.matrix_attention import MatrixAttention

import elmo_plugin.register  # noqa: F401


def test_products_are_multiplied_by_the_square_root_of_the_dimension() -> None:
    attention = MatrixAttention.from_params(Params({"type": "old_scaled_dot_product"}))
    left, right = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    products = attention(left, right)
    assert products.shape == (2, 3, 4)
    for row in range(2):
        for i in range(3):
            for j in range(4):
                expected = sqrt(5) * sum(left[row, i] * right[row, j])
                torch.testing.assert_close(products[row, i, j], expected)
