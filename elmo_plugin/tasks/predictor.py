"""The base of the predictors of all tasks: text and words from JSON."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, cast

from allennlp.common import JsonDict, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, ListField, MetadataField, TextField
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_plugin.common.errors import as_configuration_error, check_at_least
from elmo_plugin.common.formats.json_files import check_characters
from elmo_plugin.common.typography import BYTE_ORDER_MARK, normalize_text
from elmo_plugin.embedding import ElmoRepresentations, MemoryCache
from elmo_plugin.tasks.tokenizers import (
    PennTreebankTokenizer,
    RawTextTokenizer,
    as_typed,
    raw_text_tokenizer,
)

TokenizerConfig = Tokenizer | str | dict[str, Any] | None
TOO_LONG_HINT = (
    "split it, or allow more in Python, if there is memory (max_words=N of the predictor)"
)
CHARACTERS_PER_WORD = 20


class TaskPredictor(Predictor):
    """
    The base of the predictors of all tasks. The memory of some layers grows with the square of the
    number of words, so texts of more than `max_words`, by default `default_max_words`, are an
    error; before they are tokenized, texts of more than 20 times as many characters. Predicts
    without the in-memory cache, because it only pays off over epochs. A `tokenizer`, or its
    configuration, replaces the dataset reader's. A subclass has `to_instance`.
    """

    name: ClassVar[str]  # the registered name, with which error messages begin
    default_max_words: ClassVar[int] = 5_000

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        *,
        tokenizer: TokenizerConfig = None,
        max_words: int | None = None,
    ) -> None:
        dataset_reader = copy(dataset_reader)
        if tokenizer is not None:
            dataset_reader.tokenizer = make_tokenizer(tokenizer)  # type: ignore[attr-defined]
        super().__init__(model, dataset_reader)
        self._max_words = self.default_max_words
        if max_words is not None:
            self._max_words = max_words
        check_at_least(f"{self.name}: max_words", self._max_words, error=ConfigurationError)
        for module in model.modules():
            if isinstance(module, ElmoRepresentations) and isinstance(module.cache, MemoryCache):
                module.cache = None

    def to_instance(self, json_dict: JsonDict) -> Instance:
        """Returns the instance of an input."""
        raise NotImplementedError

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        self.check_input(json_dict)
        return self.to_instance(json_dict)

    @overrides
    def predict_instance(self, instance: Instance) -> JsonDict:
        (prediction,) = self.predict_batch_instance([instance])
        return prediction

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        for instance in instances:
            self.check_length(instance)
        if not instances:
            return []
        return super().predict_batch_instance(instances)

    def check_input(self, json_dict: JsonDict) -> None:
        """
        Raises `ConfigurationError` if an input is not an object, or has a text that is too long.
        """
        if not isinstance(json_dict, dict):
            raise ConfigurationError(f"{self.name}: expected a JSON object, got {json_dict!r:.100}")
        max_characters = self._max_words * CHARACTERS_PER_WORD
        for key, text in json_dict.items():
            if not isinstance(text, str):
                continue
            if len(text) > max_characters:
                raise ConfigurationError(
                    f"a text of {len(text):,} characters is longer than {max_characters:,}, "
                    f"{CHARACTERS_PER_WORD} for each of max_words, {self._max_words:,}: "
                    f"{TOO_LONG_HINT}"
                )
            with as_configuration_error():
                check_characters(text, f'{self.name}: "{key}"')

    def check_length(self, instance: Instance) -> None:
        """Raises `ConfigurationError` if a text has more words than `max_words`."""
        for field in instance.fields.values():
            size = _count_words(field)
            if size > self._max_words:
                raise ConfigurationError(
                    f"a text of {size:,} words is longer than max_words, {self._max_words:,}: "
                    f"{TOO_LONG_HINT}"
                )


def _count_words(field: Field[Any]) -> int:
    """Returns the words of a text, or of a list of texts, such as the sentences of a document."""
    if isinstance(field, ListField):
        return sum(_count_words(part) for part in field.field_list)
    if isinstance(field, TextField):
        return field.sequence_length()
    return 0


class SentencePredictor(TaskPredictor):
    """
    The base of predictors for one sentence. The input is `{"sentence": "It isn't bad."}`, tokenized
    like the training data of the task, or a list of `"words"`, used unchanged and instead of any
    sentence.

    # Parameters

    model : `Model`
        The model to predict with.
    dataset_reader : `DatasetReader`
        The reader of its training; its `text_to_instance` takes the tokens.
    tokenizer : `Tokenizer | str | dict`, optional (default = `None`)
        How a plain sentence becomes words: a tokenizer, or its configuration, as in
        `--predictor-args`; by default the dataset reader's, or else `default_tokenizer()`.
    max_words : `int`, optional (default = `5000`)
        The most words of a sentence.
    """

    default_tokenizer: ClassVar[type[RawTextTokenizer]] = PennTreebankTokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        """The tokenizer of plain sentences: the reader's, or the default one."""
        tokenizer = getattr(self._dataset_reader, "tokenizer", None)
        if tokenizer is None:
            return self.default_tokenizer()
        return make_tokenizer(tokenizer)

    def predict(self, sentence: str) -> JsonDict:
        """Returns the prediction for one plain sentence."""
        return self.predict_json({"sentence": sentence})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        words = words_from_json(json_dict, self._tokenizer, self.name)
        if _splits_text(self._dataset_reader):
            joined = " ".join(str(word) for word in words)
            return self._dataset_reader.text_to_instance(json_dict.get("sentence", joined))
        return self._dataset_reader.text_to_instance(words)


def _splits_text(reader: DatasetReader) -> bool:
    """
    Returns whether a reader takes a text and splits it into words, as those of other packages may;
    the readers of this package take words.
    """
    first, *_ = signature(reader.text_to_instance).parameters.values()
    return first.annotation is str


def make_tokenizer(config: Tokenizer | str | dict[str, Any]) -> RawTextTokenizer:
    """Returns a tokenizer for text as people type it, from any tokenizer or its configuration."""
    if isinstance(config, str):
        config = {"type": config}
    if isinstance(config, dict):
        config = Tokenizer.from_params(Params(config))
    return raw_text_tokenizer(config, PennTreebankTokenizer)


def words_from_json(json_dict: JsonDict, tokenizer: Tokenizer, name: str) -> list[Token]:
    """Returns the "words" of the input, else its "sentence" in words. Errors begin with `name`."""
    key = _first_key(json_dict, ("words", "sentence"), name)
    value = json_dict[key]
    if key == "sentence":
        if not isinstance(value, str):
            raise ConfigurationError(f'{name}: "sentence": expected text, got {value!r}')
        tokens = tokenizer.tokenize(value)
    elif _are_words(value):
        tokens = [Token(_without_mark(word)) for word in value]
    else:
        raise ConfigurationError(
            f'{name}: "{key}": expected a list of words that are not empty, got {value!r}'
        )
    if not tokens:
        raise ConfigurationError(f"{name}: no words in the input {json_dict!r:.200}")
    return tokens


def typed_places(instance: Instance) -> tuple[str, list[tuple[int, int]]]:
    """
    Returns the "text" of an instance as typed, and the place of each word in it: its first
    character and the one after its last. If the text or a place is not known, the text is the words
    joined by spaces.
    """
    tokens = cast(TextField, instance["tokens"]).tokens
    text = None
    if "text" in instance.fields:
        text = cast(MetadataField, instance["text"]).metadata
    places = []
    for token in tokens:
        if token.idx is not None and token.idx_end is not None:
            places.append((token.idx, token.idx_end))
    if text is None or len(places) < len(tokens):
        return join_words([as_typed(token) for token in tokens])
    return text, places


def join_words(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Returns words between spaces as a text, and the place of each in it."""
    places = []
    start = 0
    for word in words:
        end = start + len(word)
        places.append((start, end))
        start = end + 1
    return " ".join(words), places


def _are_words(value: Any) -> bool:
    """Returns whether the value is a list of words, none of them empty."""
    if not isinstance(value, list):
        return False
    return all(isinstance(word, str) and _without_mark(word) for word in value)


def _without_mark(word: str) -> str:
    """Removes byte order marks from a word."""
    return word.replace(BYTE_ORDER_MARK, "")


def text_from_json(json_dict: JsonDict, keys: Sequence[str], name: str) -> str:
    """Returns the text of the first of `keys` that the input has. Errors begin with `name`."""
    key = _first_key(json_dict, keys, name)
    text = json_dict[key]
    if not isinstance(text, str) or not normalize_text(text).strip():
        raise ConfigurationError(f'{name}: "{key}": expected text that is not blank, got {text!r}')
    return text


def _first_key(json_dict: JsonDict, keys: Sequence[str], name: str) -> str:
    """Returns the first key that the input has. Raises `ConfigurationError` if it has none."""
    for key in keys:
        if key in json_dict:
            return key
    expected = " or ".join(f'"{key}"' for key in keys)
    raise ConfigurationError(f"{name}: expected {expected} in the input {json_dict!r:.200}")
