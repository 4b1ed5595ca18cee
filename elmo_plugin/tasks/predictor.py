"""The base of the predictors of all tasks: text and words from JSON."""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar

from allennlp.common import JsonDict, Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, ListField, TextField
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
    as_raw_text_tokenizer,
)

TokenizerConfig = Tokenizer | str | dict[str, Any] | None
TOO_LONG_HINT = (
    "split it, or allow more in Python, if there is memory (max_words=N of the predictor)"
)
CHARACTERS_PER_WORD = 20


class TaskPredictor(Predictor):
    """
    The base of the predictors of all tasks. A subclass has `to_instance`.

    The memory of some layers grows with the square of the number of words. Therefore a text of more
    than `max_words` words, by default `default_max_words`, is an error. A long text would also take
    long to tokenize, so a text of more than `CHARACTERS_PER_WORD` times `max_words` characters is
    an error before that.

    A `tokenizer`, or its configuration, replaces the dataset reader's.
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
        dataset_reader = copy(dataset_reader)  # the caller's reader keeps its tokenizer
        if tokenizer is not None:
            dataset_reader.tokenizer = make_tokenizer(tokenizer)  # type: ignore[attr-defined]
        super().__init__(model, dataset_reader)
        self._max_words = self.default_max_words
        if max_words is not None:
            self._max_words = max_words
        check_at_least(
            f"{self.name}: max_words", self._max_words, least=1, error=ConfigurationError
        )
        # Keeping vectors in memory only pays off over the epochs of a training.
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
            return []  # AllenNLP cannot make a batch of no instances
        return super().predict_batch_instance(instances)

    def check_input(self, json_dict: JsonDict) -> None:
        """
        Raises `ConfigurationError` if an input is not an object, if one of its texts is too long to
        tokenize, or if a text or a word has half of a surrogate pair. `check_length` counts the
        words later.
        """
        if not isinstance(json_dict, dict):
            raise ConfigurationError(f"{self.name}: expected a JSON object, got {json_dict!r:.100}")
        max_characters = self._max_words * CHARACTERS_PER_WORD
        for key, value in json_dict.items():
            if isinstance(value, str) and len(value) > max_characters:
                raise ConfigurationError(
                    f"a text of {len(value):,} characters is longer than {max_characters:,}, "
                    f"{CHARACTERS_PER_WORD} for each of max_words, {self._max_words:,}: "
                    f"{TOO_LONG_HINT}"
                )
            with as_configuration_error():
                for text in _strings_in(value):
                    check_characters(text, f'{self.name}: "{key}"')

    def check_length(self, instance: Instance) -> None:
        """Raises `ConfigurationError` if a text has more words than `max_words`."""
        for field in instance.fields.values():
            num_words = _count_words(field)
            if num_words > self._max_words:
                raise ConfigurationError(
                    f"a text of {num_words:,} words is longer than max_words, {self._max_words:,}: "
                    f"{TOO_LONG_HINT}"
                )

    def text_in(self, json_dict: JsonDict, keys: Sequence[str]) -> str:
        """
        Returns the text of the first of `keys` that the input has. Raises `ConfigurationError` if
        it has none, or the text is blank.
        """
        key = self.first_key(json_dict, keys)
        text = json_dict[key]
        # Normalizing drops invisible characters: a text of nothing else is blank.
        if not isinstance(text, str) or not normalize_text(text).strip():
            raise ConfigurationError(
                f'{self.name}: "{key}": expected text that is not blank, got {text!r}'
            )
        return text

    def first_key(self, json_dict: JsonDict, keys: Sequence[str]) -> str:
        """Returns the first key that the input has. Raises `ConfigurationError` if it has none."""
        for key in keys:
            if key in json_dict:
                return key
        expected = " or ".join(f'"{key}"' for key in keys)
        raise ConfigurationError(
            f"{self.name}: expected {expected} in the input {json_dict!r:.200}"
        )


def _strings_in(value: Any) -> Iterator[str]:
    """Yields a value that is a string, or the strings in lists at any depth, such as words."""
    waiting = [value]  # not recursive, because JSON may be nested more deeply than Python calls
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            waiting += reversed(part)  # so that the first string is yielded first


def _count_words(field: Field[Any]) -> int:
    """
    Counts the words of a text, or of a list of texts, such as the sentences of a document. Returns
    0 for other fields, such as labels.
    """
    if isinstance(field, ListField):
        return sum(_count_words(part) for part in field.field_list)
    if isinstance(field, TextField):
        return field.sequence_length()
    return 0


class SentencePredictor(TaskPredictor):
    """
    The base of predictors for one sentence. The input is `{"sentence": "It isn't bad."}`, tokenized
    like the training data of the task, or a list of `"words"`. Words are used unchanged; if an
    input has both, the sentence is ignored.

    # Parameters

    model : `Model`
        The model to predict with.
    dataset_reader : `DatasetReader`
        The reader of the model's training data. Its `text_to_instance` takes the tokens.
    tokenizer : `Tokenizer | str | dict`, optional (default = `None`)
        How a plain sentence becomes words: a tokenizer, or its configuration, as in
        `--predictor-args`. The default is the dataset reader's tokenizer or, if it has none,
        `default_tokenizer()`.
    max_words : `int`, optional (default = `5000`)
        A longer sentence is an error.
    """

    default_tokenizer: ClassVar[type[RawTextTokenizer]] = PennTreebankTokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        """The tokenizer of plain sentences: the reader's, or the default if the reader has none."""
        tokenizer = getattr(self._dataset_reader, "tokenizer", None)
        if tokenizer is None:
            return self.default_tokenizer()
        return make_tokenizer(tokenizer)

    def predict(self, sentence: str) -> JsonDict:
        """Returns the prediction for one plain sentence."""
        return self.predict_json({"sentence": sentence})

    @overrides
    def to_instance(self, json_dict: JsonDict) -> Instance:
        words = self.words_in(json_dict)
        if not _takes_string(self._dataset_reader):
            return self._dataset_reader.text_to_instance(words)
        # A reader that takes a string tokenizes by itself, so it gets the sentence as typed. A list
        # of words becomes a sentence.
        sentence = json_dict.get("sentence")
        if "words" in json_dict:
            sentence = " ".join(word.ensure_text() for word in words)
        return self._dataset_reader.text_to_instance(sentence)

    def words_in(self, json_dict: JsonDict) -> list[Token]:
        """
        Returns the "words" of an input, or else the words of its "sentence". Raises
        `ConfigurationError` if it has none.
        """
        key = self.first_key(json_dict, ("words", "sentence"))
        value = json_dict[key]
        if key == "sentence":
            if not isinstance(value, str):
                raise ConfigurationError(f'{self.name}: "sentence": expected text, got {value!r}')
            tokens = self._tokenizer.tokenize(value)
        elif _are_words(value):
            tokens = [Token(_without_byte_order_mark(word)) for word in value]
        else:
            raise ConfigurationError(
                f'{self.name}: "words": expected a list of words that are not empty, got {value!r}'
            )
        if not tokens:
            raise ConfigurationError(f'{self.name}: "{key}": expected words, got {value!r:.200}')
        return tokens


def _takes_string(reader: DatasetReader) -> bool:
    """
    Returns whether the `text_to_instance` of a reader takes a text as a string, as in some readers
    of other packages. The readers of this package take a list of tokens.
    """
    first, *_ = signature(reader.text_to_instance).parameters.values()
    # With `from __future__ import annotations`, an annotation is its own source text.
    return first.annotation in (str, "str")


def make_tokenizer(config: Tokenizer | str | dict[str, Any]) -> RawTextTokenizer:
    """
    Returns a tokenizer for text as people type it, from any tokenizer, its configuration, or its
    registered name.
    """
    if isinstance(config, str):
        config = {"type": config}
    if isinstance(config, dict):
        config = Tokenizer.from_params(Params(config))
    return as_raw_text_tokenizer(config)


def join_words(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Joins words with spaces. Returns the text and the place of each word in it."""
    places = []
    start = 0
    for word in words:
        end = start + len(word)
        places.append((start, end))
        start = end + 1  # after the space
    return " ".join(words), places


def _are_words(value: Any) -> bool:
    """Returns whether the value is a list of words, none of them empty."""
    if not isinstance(value, list):
        return False
    return all(isinstance(word, str) and _without_byte_order_mark(word) for word in value)


def _without_byte_order_mark(word: str) -> str:
    """Removes byte order marks from a word, as the dataset readers do."""
    return word.replace(BYTE_ORDER_MARK, "")
