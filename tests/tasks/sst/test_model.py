"""The classifier: its mathematics against plain loops, and what it predicts, measures and saves."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.modules import FeedForward, Maxout
from allennlp.predictors import TextClassifierPredictor
from torch import Tensor, nn

from elmo_plugin.encoders import pool, self_biattention
from elmo_plugin.encoders.bidirectional import VariationalBiLstm
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.tasks.sst import SstBcn, SstPredictor, SstTreesReader
from tests.tasks.small_models import word_embedder

REPOSITORY = Path(__file__).parents[3]
TREES = REPOSITORY / "tests" / "fixtures" / "sst" / "trees.txt"
CLASSIFIER = Lazy(FeedForward, num_layers=2, hidden_dims=10, activations=nn.ReLU())
LENGTHS = [1, 4, 3]
MASK = torch.arange(4) < torch.tensor(LENGTHS).unsqueeze(-1)


def instances() -> list[Instance]:
    return list(SstTreesReader({"tokens": SingleIdTokenIndexer()}).read(TREES))


def classifier(vocab: Vocabulary, dropout: float = 0.0, **options: Any) -> SstBcn:
    torch.manual_seed(0)
    bilstm = Lazy(VariationalBiLstm, hidden_sizes=[4], dropout=dropout)
    feedforward = Lazy(FeedForward, num_layers=1, hidden_dims=5, activations=nn.ReLU())
    encoder = ContextualEncoder(
        word_embedder(vocab), bilstm, dropout=dropout, feedforward=feedforward
    )
    return SstBcn(
        vocab,
        contextual_encoder=encoder,
        integrator=bilstm,
        **(options or {"classifier": CLASSIFIER}),
        dropout=dropout,
    )


def sentences(dim: int) -> Tensor:
    """Three sentences, with noise at their padding."""
    torch.manual_seed(1)
    return torch.randn(len(LENGTHS), max(LENGTHS), dim, dtype=torch.float64)


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


def softmax(scores: list[float]) -> list[float]:
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [value / sum(exponentials) for value in exponentials]


def test_each_word_is_joined_with_its_attention_over_similar_words() -> None:
    encoded = sentences(dim=3)
    found = self_biattention(encoded, MASK)
    assert found.shape == (3, 4, 9)
    for row, length in enumerate(LENGTHS):
        words = encoded[row, :length].tolist()
        for time, word in enumerate(words):
            weights = softmax([dot(word, other) for other in words])
            like = [dot(weights, values) for values in zip(*words, strict=True)]
            expected = [
                *word,
                *(x - c for x, c in zip(word, like, strict=True)),
                *(x * c for x, c in zip(word, like, strict=True)),
            ]
            assert found[row, time].tolist() == pytest.approx(expected)


def test_a_sentence_is_pooled_in_four_ways() -> None:
    vectors = sentences(dim=3)
    scores = sentences(dim=1).squeeze(-1)
    pooled = pool(vectors, scores, MASK)
    for row, length in enumerate(LENGTHS):
        features = list(zip(*vectors[row, :length].tolist(), strict=True))
        weights = softmax(scores[row, :length].tolist())
        expected = [
            *map(max, features),
            *(sum(values) / length for values in features),
            *map(min, features),
            *(dot(weights, values) for values in features),
        ]
        assert pooled[row].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_padding_does_not_affect_pooling_for_any_scores(size: float) -> None:
    vectors, scores = size * sentences(dim=3), -(size**2) - sentences(dim=1).squeeze(-1)
    together = pool(self_biattention(vectors, MASK), scores, MASK)
    for row, length in enumerate(LENGTHS):
        sentence, mask = vectors[row : row + 1, :length], MASK[row : row + 1, :length]
        alone = pool(self_biattention(sentence, mask), scores[row : row + 1, :length], mask)
        torch.testing.assert_close(together[row : row + 1], alone)


@pytest.mark.parametrize(
    "options",
    [{"classifier": None}, {"classifier": CLASSIFIER, "maxout": Lazy(Maxout, num_layers=1)}],
    ids=["neither", "both"],
)
def test_giving_both_a_classifier_and_maxout_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="set exactly one of `classifier` and `maxout`"):
        classifier(Vocabulary.from_instances(instances()), **options)


def test_allennlps_predictor_of_texts_predicts_the_same_as_ours() -> None:
    reader = SstTreesReader({"tokens": SingleIdTokenIndexer()})
    model = classifier(Vocabulary.from_instances(instances())).eval()
    text = "It isn\u2019t funny."
    prediction = TextClassifierPredictor(model, reader).predict(text)
    assert prediction["words"] == ["It", "is", "n\u2019t", "funny", "."]
    assert prediction == SstPredictor(model, reader).predict(text)
