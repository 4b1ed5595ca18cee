"""The sentiment of plain or pre-tokenised sentences."""

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.penn_treebank_tokenizer import PennTreebankTokenizer


@Predictor.register("elmo_sst")
class SstPredictor(Predictor):
    """
    Tells the sentiment of `{"sentence": "It isn't bad."}`, or of a list of words as `"words"` or `"tokens"`,
    `{"words": ["It", "is", "n't", "bad", "."]}`. Words are taken as they are; if they are there, the sentence
    does not count.

    A prediction has the `words`, their `label`, its `probabilities` by label, and the `logits` and `probs`
    that they are from.

    Registered as a `Predictor` with name "elmo_sst".

    # Parameters

    model : `Model`
        The model to predict with.
    dataset_reader : `DatasetReader`
        That of its training.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How a plain sentence becomes words. The default divides it as the treebank is divided.

    Raises `ConfigurationError` where the input has none of the keys, no word, or something else than text.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader, tokenizer: Tokenizer = None) -> None:
        super().__init__(model, dataset_reader)
        self._tokenizer = tokenizer or PennTreebankTokenizer()

    def predict(self, sentence: str) -> JsonDict:
        """The prediction for one plain sentence."""
        return self.predict_json({"sentence": sentence})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        tokens = self._tokens(json_dict)
        if not tokens:
            raise ConfigurationError(f"elmo_sst: there is no word in the input {json_dict!r}")
        return self._dataset_reader.text_to_instance(tokens)

    def _tokens(self, json_dict: JsonDict) -> list[Token]:
        for key in ("words", "tokens"):
            if key in json_dict:
                words = json_dict[key]
                if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
                    raise ConfigurationError(
                        f'elmo_sst: "{key}" must be a list of words that are not empty, not {words!r}'
                    )
                return [Token(word) for word in words]
        if "sentence" not in json_dict:
            raise ConfigurationError(
                f'elmo_sst: expected "sentence", "words" or "tokens" in the input {json_dict!r}'
            )
        if not isinstance(json_dict["sentence"], str):
            raise ConfigurationError(f'elmo_sst: "sentence" must be text, not {json_dict["sentence"]!r}')
        return self._tokenizer.tokenize(json_dict["sentence"])
