"""Biattention and self-attention against loops over words, in float64, with padding."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from elmo_plugin.tasks.squad.attention import TrilinearBiattention, TrilinearSelfAttention

DIM = 3
BIAS = 0.7  # that of the original's biattention, which changes nothing


def softmax(values: list[Tensor]) -> Tensor:
    exponentials = torch.stack(values).exp()
    return exponentials / exponentials.sum()


def similarity_of(model: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    """Seo et al. (2017), section 2, for two vectors."""
    first, second = model.similarity.first_projection.weight[0], model.similarity.second_projection.weight[0]
    return lambda x, y: first @ x + second @ y + model.similarity.product_weight @ (x * y)


@pytest.fixture
def texts() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    paragraph = torch.randn(2, 5, DIM, dtype=torch.float64)
    question = torch.randn(2, 4, DIM, dtype=torch.float64)
    p_mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    q_mask = torch.tensor([[True] * 2 + [False] * 2, [True] * 4])
    return paragraph, question, p_mask, q_mask


def test_biattention_is_that_of_each_word(texts: tuple[Tensor, ...]) -> None:
    paragraph, question, p_mask, q_mask = texts
    model = TrilinearBiattention(DIM).double()
    similarity = similarity_of(model)
    found = model(*texts)
    for row in range(2):
        p, q = paragraph[row][p_mask[row]], question[row][q_mask[row]]
        scores = [[similarity(x, y) + BIAS for y in q] for x in p]
        back = softmax([max(each) for each in scores]) @ p
        for place, x in enumerate(p):
            attended = softmax(scores[place]) @ q
            expected = torch.cat([x, attended, x * attended, x * back])
            torch.testing.assert_close(found[row, place], expected, atol=1e-10, rtol=0)


def test_self_attention_is_that_of_each_word_to_all_others_or_to_nothing(texts: tuple[Tensor, ...]) -> None:
    """Nothing is one more vector, of zeros, whose score is a parameter, as in the original."""
    words, _, mask, _ = texts
    model = TrilinearSelfAttention(DIM).double()
    assert model.nothing == -1
    nn.init.constant_(model.nothing, 0.4)
    similarity = similarity_of(model)
    found = model(words, mask)
    for row in range(2):
        text = words[row][mask[row]]
        for place, x in enumerate(text):
            others = [y for other, y in enumerate(text) if other != place]
            scores = [similarity(x, y) for y in others]
            attended = softmax([*scores, model.nothing]) @ torch.stack([*others, torch.zeros_like(x)])
            expected = torch.cat([x, attended, x * attended])
            torch.testing.assert_close(found[row, place], expected, atol=1e-10, rtol=0)


def test_a_word_that_is_alone_attends_to_nothing() -> None:
    word = torch.randn(1, 2, DIM)
    found = TrilinearSelfAttention(DIM)(word, torch.tensor([[True, False]]))[0, 0]
    assert found.equal(torch.cat([word[0, 0], torch.zeros(2 * DIM)]))
