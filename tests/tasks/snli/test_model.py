"""ESIM against the formulas written out, and its predictor."""

from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_plugin.encoders import masked_attention
from elmo_plugin.tasks.snli import SnliPredictor, SnliReader
from tests.tasks.small_models import tensors_of
from tests.tasks.snli.small_esim import PAIRS, instances, small_esim


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


PREMISE, HYPOTHESIS = "A dog doesn't run.", "An animal is running."


@pytest.fixture(scope="module")
def predictor() -> SnliPredictor:
    reader = SnliReader({"tokens": SingleIdTokenIndexer()})
    return SnliPredictor(small_esim(Vocabulary.from_instances(reader.read(PAIRS))).eval(), reader)


def test_a_prediction_is_a_label_and_the_probability_of_each(predictor: SnliPredictor) -> None:
    output = predictor.predict(PREMISE, HYPOTHESIS)
    assert output["probabilities"].keys() == {"entailment", "neutral", "contradiction"}
    assert sum(output["probabilities"].values()) == pytest.approx(1)
    assert output["probabilities"][output["label"]] == max(output["probabilities"].values())
    assert "loss" not in output


def test_the_keys_may_be_those_of_snli(predictor: SnliPredictor) -> None:
    line = {"sentence1": PREMISE, "sentence2": HYPOTHESIS, "gold_label": "-"}
    assert predictor.predict_json(line) == predictor.predict(PREMISE, HYPOTHESIS)


def test_another_tokenizer_replaces_the_readers_in_the_predictor_alone(predictor: SnliPredictor) -> None:
    reader = predictor._dataset_reader
    other = SnliPredictor(predictor._model, reader, tokenizer="just_spaces")
    pair = other._json_to_instance({"premise": "ฉัน กิน", "hypothesis": HYPOTHESIS})
    assert [token.text for token in pair["premise"]] == ["ฉัน", "กิน"]
    with pytest.raises(ConfigurationError, match="Thai is written without spaces"):
        predictor.predict("ฉันกิน", HYPOTHESIS)
