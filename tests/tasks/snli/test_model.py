"""ESIM: what it computes, against the formulas written out, and how it learns."""

from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.encoders import masked_attention
from tests.tasks.small_models import tensors_of
from tests.tasks.snli.small_esim import instances, small_esim


@pytest.fixture
def vocab() -> Vocabulary:
    return Vocabulary.from_instances(instances())


def logits_by_the_formulas(model: Any, premise: Tensor, hypothesis: Tensor) -> Tensor:
    """Of one pair without padding, word by word: Chen et al. (2017), equations 11 to 20."""

    def aligned(word: Tensor, others: Tensor) -> Tensor:
        strengths = [torch.exp(word @ other) for other in others]
        return sum(e * other for e, other in zip(strengths, others, strict=True)) / sum(strengths)

    def inferred(words: Tensor, others: Tensor) -> list[Tensor]:
        steps = []
        for word in words:
            other = aligned(word, others)
            together = torch.cat([word, other, word - other, word * other])
            steps.append(model.projection._linear_layers[0](together).clamp(min=0))
        (lstm,) = model.inference_encoder.layers
        composed = lstm(torch.stack(steps)[None])[0][0]
        return [sum(composed) / len(composed), torch.stack([column.max() for column in composed.T])]

    pair = torch.cat([*inferred(premise, hypothesis), *inferred(hypothesis, premise)])
    return model.output_logits(model.classifier._linear_layers[0](pair).clamp(min=0))


def test_is_the_model_of_the_paper(vocab: Vocabulary) -> None:
    model = small_esim(vocab).double().eval()
    tensors = tensors_of(instances(), vocab)
    logits = model(**tensors)["logits"]
    for row, instance in enumerate(instances()):
        words = [
            model.contextual_encoder(
                {"tokens": {"tokens": tensors[name]["tokens"]["tokens"][row : row + 1]}}
            )[0][0, : len(instance[name])]
            for name in ("premise", "hypothesis")
        ]
        torch.testing.assert_close(logits[row], logits_by_the_formulas(model, *words))


@given(
    words=st.integers(1, 4),
    others=st.integers(1, 5),
    padding=st.integers(0, 3),
    scale=st.sampled_from([0.0, 1.0, 1e3]),
    seed=st.integers(0, 999),
)
@settings(max_examples=50)
def test_attention_is_a_mean_of_the_other_words_whatever_their_similarity(
    words: int, others: int, padding: int, scale: float, seed: int
) -> None:
    torch.manual_seed(seed)
    similarity = (torch.randn(1, words, others + padding) - 2) * scale
    vectors = torch.randn(1, others + padding, 3)
    mask = (torch.arange(others + padding) < others)[None]
    weights = similarity[..., :others].double().softmax(dim=-1)
    expected = torch.einsum("bwo,bod->bwd", weights, vectors[:, :others].double())
    torch.testing.assert_close(
        masked_attention(similarity, vectors, mask), expected.float(), rtol=1e-4, atol=1e-5
    )
