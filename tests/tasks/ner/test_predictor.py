"""The predictor: plain and pre-tokenized sentences, and what is neither."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_plugin.encoders.contextual_encoder import ContextualEncoder
from elmo_plugin.encoders.variational_bilstm import VariationalBiLstm
from elmo_plugin.tasks.ner import Conll2003Reader, NerBiLstmCrf, NerPredictor
from tests.tasks.small_models import word_embedder

SENTENCES = Path(__file__).parents[2] / "fixtures" / "ner" / "sentences.txt"


@pytest.fixture(scope="module")
def predictor() -> NerPredictor:
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()})
    vocab = Vocabulary.from_instances(reader.read(SENTENCES))
    encoder = ContextualEncoder(word_embedder(vocab), Lazy(VariationalBiLstm, hidden_sizes=[6]))
    return NerPredictor(NerBiLstmCrf(vocab, contextual_encoder=encoder).eval(), reader)


def test_a_plain_sentence_is_tokenized_by_rules(predictor: NerPredictor) -> None:
    output = predictor.predict_json({"sentence": " Ada didn't  meet\nCharles (in London). "})
    assert output["words"] == ["Ada", "did", "n't", "meet", "Charles", "(", "in", "London", ")", "."]
    assert set(output) == {"words", "tags", "entities"}
    assert output == predictor.predict(" Ada didn't  meet\nCharles (in London). ")


def test_tokens_are_taken_as_they_are(predictor: NerPredictor) -> None:
    words = ["Ada", "didn't", "meet", "New York"]
    output = predictor.predict_json({"tokens": words, "sentence": "not this"})
    assert output["words"] == words and len(output["tags"]) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"sentence": ""}, "there are no words in"),
        ({"sentence": "  \n\t"}, "there are no words in"),
        ({"tokens": []}, "there are no words in"),
        ({"words": []}, "there are no words in"),
        ({"words": "Ada"}, "\"words\" must be a list of words .*, not 'Ada'"),
        ({"text": "Ada"}, 'expected "words" or "tokens" or "sentence" in'),
        ({"sentence": 3}, '"sentence" must be text, not 3'),
        ({"tokens": "Ada"}, "\"tokens\" must be a list of words .*, not 'Ada'"),
        ({"tokens": ["Ada", ""]}, r"\"tokens\" must be a list of words .*, not \['Ada', ''\]"),
        ({"tokens": ["Ada", 3]}, r"\"tokens\" must be a list of words .*, not \['Ada', 3\]"),
        (["Ada"], r"expected a JSON object, got \['Ada'\]"),
        ({"sentence": "a \ud800"}, "\"sentence\": 'a .+ud800' has half of a surrogate pair"),
    ],
)
def test_what_is_no_sentence_is_an_error(predictor: NerPredictor, line: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"elmo_ner: {message}") as error:
        predictor.predict_json(line)
    assert "\n" not in str(error.value)


def test_a_text_without_end_is_refused_with_the_option_that_allows_it(predictor: NerPredictor) -> None:
    endless = {"words": ["a"] * (predictor.longest + 1)}
    message = "a text of 5,001 words is longer than max_words, 5,000"
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_json(endless)
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_batch_json([{"words": ["a"]}, endless])
    patient = NerPredictor(predictor._model, predictor._dataset_reader, max_words=5_001)
    assert len(patient.predict_json(endless)["tags"]) == 5_001
    with pytest.raises(ConfigurationError, match="max_words of a predictor is at least 1, not 0"):
        NerPredictor(predictor._model, predictor._dataset_reader, max_words=0)
