"""The predictor: plain and pre-tokenized sentences. Its errors are those that the tests of NER check."""

from pathlib import Path

import pytest
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.modules import FeedForward
from torch import nn

from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.encoders.variational_bilstm import VariationalBiLstm
from elmo_plugin.tasks.sst import SstBcn, SstPredictor, SstTreesReader
from tests.tasks.small_models import word_embedder

TREES = Path(__file__).parents[2] / "fixtures" / "sst" / "trees.txt"


@pytest.fixture(scope="module")
def predictor() -> SstPredictor:
    reader = SstTreesReader({"tokens": SingleIdTokenIndexer()})
    vocab = Vocabulary.from_instances(reader.read(TREES))
    bilstm = Lazy(VariationalBiLstm, hidden_sizes=[3])
    classifier = Lazy(FeedForward, num_layers=1, hidden_dims=4, activations=nn.ReLU())
    model = SstBcn(
        vocab,
        contextual_encoder=ContextualEncoder(word_embedder(vocab), bilstm),
        integrator=bilstm,
        classifier=classifier,
    )
    return SstPredictor(model.eval(), reader)


def test_a_plain_sentence_is_tokenized_as_the_treebank(predictor: SstPredictor) -> None:
    sentence = " It isn't  a \"low-budget\"\nfilm (it can't be). "
    output = predictor.predict_json({"sentence": sentence})
    assert " ".join(output["words"]) == "It is n't a \" low-budget \" film ( it ca n't be ) ."
    assert set(output) == {"words", "label", "probabilities", "logits", "probs"}
    assert output == predictor.predict(sentence)


def test_the_label_is_the_most_probable(predictor: SstPredictor) -> None:
    output = predictor.predict("A superb film.")
    assert set(output["probabilities"]) == {
        "very negative",
        "negative",
        "neutral",
        "positive",
        "very positive",
    }
    assert sum(output["probabilities"].values()) == pytest.approx(1)
    assert output["probabilities"][output["label"]] == max(output["probs"])


@pytest.mark.parametrize("key", ["words", "tokens"])
def test_words_are_taken_as_they_are(predictor: SstPredictor, key: str) -> None:
    words = ["It", "isn't", "New York"]
    assert predictor.predict_json({key: words, "sentence": "not this"})["words"] == words


def test_another_tokenizer_may_be_given(predictor: SstPredictor) -> None:
    for tokenizer in (WhitespaceTokenizer(), "whitespace", {"type": "whitespace"}):
        other = SstPredictor(predictor._model, predictor._dataset_reader, tokenizer)
        assert other.predict("It isn't bad.")["words"] == ["It", "isn't", "bad."]
    with pytest.raises(ConfigurationError, match="max_words of a predictor is at least 1, not '9'"):
        SstPredictor(predictor._model, predictor._dataset_reader, max_words="9")  # type: ignore[arg-type]


def test_characters_are_limited_before_a_tokenizer_runs(
    predictor: SstPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictor, "_tokenizer", None)
    for predict in (predictor.predict, lambda text: predictor.predict_batch_json([{"sentence": text}])):
        with pytest.raises(ConfigurationError, match="100,002 characters is longer than 100,000"):
            predict("a " * 50_001)


def test_no_input_gives_no_prediction(predictor: SstPredictor) -> None:
    assert predictor.predict_batch_json([]) == []
