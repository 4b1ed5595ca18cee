"""Named entities of plain or pre-tokenised sentences."""

import spacy
from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import Token
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides


@Predictor.register("elmo_ner")
class NerPredictor(Predictor):
    """
    Finds the named entities of `{"sentence": "Ada lives in Rome."}`, which is tokenised by spaCy's rules for
    English, or of `{"tokens": ["Ada", "lives", "in", "Rome", "."]}`. If there are both, the tokens count.

    A prediction has `words`, `tags` and `entities`.

    Registered as a `Predictor` with name "elmo_ner".

    Raises `ConfigurationError` where the input has neither key, no word, or something else than text in it.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader) -> None:
        super().__init__(model, dataset_reader)
        self._tokenizer = spacy.blank("en").tokenizer

    def predict(self, sentence: str) -> JsonDict:
        """The prediction for one plain sentence."""
        return self.predict_json({"sentence": sentence})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance([Token(word) for word in self._words(json_dict)])

    def _words(self, json_dict: JsonDict) -> list[str]:
        if "tokens" in json_dict:
            words = json_dict["tokens"]
            if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
                raise ConfigurationError(
                    f'elmo_ner: "tokens" must be a list of words that are not empty, not {words!r}'
                )
        elif "sentence" in json_dict:
            sentence = json_dict["sentence"]
            if not isinstance(sentence, str):
                raise ConfigurationError(f'elmo_ner: "sentence" must be text, not {sentence!r}')
            words = [token.text for token in self._tokenizer(sentence) if not token.is_space]
        else:
            raise ConfigurationError(f'elmo_ner: expected "sentence" or "tokens" in the input {json_dict!r}')
        if not words:
            raise ConfigurationError(f"elmo_ner: there is no word in the input {json_dict!r}")
        return words
