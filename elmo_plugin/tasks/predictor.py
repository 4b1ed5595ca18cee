"""What the predictors of all tasks share: text and words from JSON."""

from collections.abc import Sequence
from typing import ClassVar

from allennlp.common import JsonDict
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer


class SentencePredictor(Predictor):
    """
    The base of predictors for one sentence. The input is `{"sentence": "It isn't bad."}`, which is tokenised
    as the training data of the task is, or a list of words as `"words"` or `"tokens"`,
    `{"words": ["It", "is", "n't", "bad", "."]}`. Words are taken as they are; if they are given, the sentence
    does not count.

    # Parameters

    model : `Model`
        The model to predict with.
    dataset_reader : `DatasetReader`
        That of its training; its `text_to_instance` takes the tokens.
    tokenizer : `Tokenizer`, optional (default = `default_tokenizer()`)
        How a plain sentence becomes words.

    Raises `ConfigurationError` where the input has none of the keys, no word, or something else than text.
    """

    name: ClassVar[str]
    """The registered name, with which error messages begin."""
    default_tokenizer: ClassVar[type[Tokenizer]] = PennTreebankTokenizer

    def __init__(self, model: Model, dataset_reader: DatasetReader, tokenizer: Tokenizer = None) -> None:
        super().__init__(model, dataset_reader)
        self._tokenizer = tokenizer or self.default_tokenizer()

    def predict(self, sentence: str) -> JsonDict:
        """Returns the prediction for one plain sentence."""
        return self.predict_json({"sentence": sentence})

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(words_from_json(json_dict, self._tokenizer, self.name))


def words_from_json(json_dict: JsonDict, tokenizer: Tokenizer, name: str) -> list[Token]:
    """
    Returns the words of "words", "tokens" or "sentence", of which the first that is there counts. Only a
    sentence is tokenised. `name` is the predictor's, for errors.

    Raises `ConfigurationError` where there is no word.
    """
    key = _first_key(json_dict, ("words", "tokens", "sentence"), name)
    value = json_dict[key]
    if key == "sentence":
        if not isinstance(value, str):
            raise ConfigurationError(f'{name}: "sentence" must be text, not {value!r}')
        tokens = tokenizer.tokenize(value)
    elif isinstance(value, list) and all(isinstance(word, str) and word for word in value):
        tokens = [Token(word) for word in value]
    else:
        raise ConfigurationError(f'{name}: "{key}" must be a list of words that are not empty, not {value!r}')
    if not tokens:
        raise ConfigurationError(f"{name}: there is no word in the input {json_dict!r}")
    return tokens


def text_from_json(json_dict: JsonDict, keys: Sequence[str], name: str) -> str:
    """
    Returns the text of the first of `keys` that the input has. `name` is the predictor's, for errors.

    Raises `ConfigurationError` where there is none, and where it is blank or no text.
    """
    key = _first_key(json_dict, keys, name)
    text = json_dict[key]
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f'{name}: "{key}" must be text that is not blank, not {text!r}')
    return text


def _first_key(json_dict: JsonDict, keys: Sequence[str], name: str) -> str:
    for key in keys:
        if key in json_dict:
            return key
    expected = " or ".join(f'"{key}"' for key in keys)
    raise ConfigurationError(f"{name}: expected {expected} in the input {json_dict!r}")
