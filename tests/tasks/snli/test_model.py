"""ESIM against the formulas written out, and its predictor."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.modules import Embedding, FeedForward
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from torch import Tensor, nn

from elmo_plugin.encoders.bidirectional import VariationalBiLstm
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.tasks.snli import SnliEsim, SnliPredictor, SnliReader
from tests.tasks.small_models import tensors_of

PAIRS = Path(__file__).parents[2] / "fixtures" / "snli" / "pairs.jsonl"


def instances() -> list[Instance]:
    return list(SnliReader({"tokens": SingleIdTokenIndexer()}).read(PAIRS))


def embedder(vocab: Vocabulary) -> BasicTextFieldEmbedder:
    embedding = Embedding(5, vocab.get_vocab_size("tokens"))
    nn.init.normal_(embedding.weight)
    return BasicTextFieldEmbedder({"tokens": embedding})


def small_esim(vocab: Vocabulary, dropout: float = 0.0) -> SnliEsim:
    torch.manual_seed(0)
    return SnliEsim(
        vocab,
        contextual_encoder=ContextualEncoder(
            embedder(vocab), Lazy(VariationalBiLstm, hidden_sizes=[4], dropout=dropout)
        ),
        projection=Lazy(FeedForward, num_layers=1, hidden_dims=3, activations=nn.ReLU()),
        inference_encoder=Lazy(VariationalBiLstm, hidden_sizes=[6], dropout=dropout),
        classifier=Lazy(FeedForward, num_layers=1, hidden_dims=7, activations=nn.ReLU()),
        dropout=dropout,
    )


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


def test_the_model_has_the_layers_of_the_paper(vocab: Vocabulary) -> None:
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


PREMISE, HYPOTHESIS = "A dog doesn't run.", "An animal is running."


@pytest.fixture(scope="module")
def predictor() -> SnliPredictor:
    reader = SnliReader({"tokens": SingleIdTokenIndexer()})
    return SnliPredictor(small_esim(Vocabulary.from_instances(reader.read(PAIRS))).eval(), reader)


def test_a_prediction_gives_a_label_and_the_probability_of_each_label(
    predictor: SnliPredictor,
) -> None:
    output = predictor.predict(PREMISE, HYPOTHESIS)
    assert output["probabilities"].keys() == {"entailment", "neutral", "contradiction"}
    assert sum(output["probabilities"].values()) == pytest.approx(1)
    assert output["probabilities"][output["label"]] == max(output["probabilities"].values())
    assert "loss" not in output


def test_the_keys_of_snli_are_accepted(predictor: SnliPredictor) -> None:
    line = {"sentence1": PREMISE, "sentence2": HYPOTHESIS, "gold_label": "-"}
    assert predictor.predict_json(line) == predictor.predict(PREMISE, HYPOTHESIS)


def test_another_tokenizer_replaces_the_readers_in_the_predictor_only(
    predictor: SnliPredictor,
) -> None:
    reader = predictor._dataset_reader
    other = SnliPredictor(predictor._model, reader, tokenizer="just_spaces")
    pair = other._json_to_instance({"premise": "ฉัน กิน", "hypothesis": HYPOTHESIS})
    assert [token.text for token in pair["premise"]] == ["ฉัน", "กิน"]
    with pytest.raises(ConfigurationError, match="Thai is written without spaces"):
        predictor.predict("ฉันกิน", HYPOTHESIS)
