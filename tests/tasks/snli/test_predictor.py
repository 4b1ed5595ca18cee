"""The predictor: pairs of plain sentences, and what is none."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.tasks.snli import SnliPredictor, SnliReader
from tests.tasks.snli.small_esim import PAIRS, small_esim

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
