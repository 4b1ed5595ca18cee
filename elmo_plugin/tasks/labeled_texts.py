"""Texts with a label, as JSON lines."""

from functools import cache
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer, Vocabulary
from allennlp.data.fields import LabelField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_plugin.common.errors import as_configuration_error, did_you_mean
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.dataset_reader import UNKNOWN_TAG, Line, TaskDatasetReader
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer, raw_text_tokenizer

_MOST_CHARACTERS_OF_LABELS = 500  # A message that lists all labels is cut here.

logger = get_logger(__name__)


class LabeledTextsReader(TaskDatasetReader):
    """
    The base of readers of texts with a label: a JSON object in each line.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How texts become words. The default splits them like the text that biLMs are trained on; it
        is for languages with spaces between words, and makes each Han or Kana character a word.
    """

    task = ""
    """The name of the task in `elmo import`; each subclass sets it."""

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        tokenizer: Tokenizer = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.tokenizer = raw_text_tokenizer(tokenizer, default=PennTreebankTokenizer)

    def parse(self, line: Line) -> dict[str, Any]:
        """Parses the JSON object in a line. Raises `ConfigurationError` if the line is not one."""
        # A line of another format, such as CSV, gets an error that names `elmo import`. An error of
        # the JSON parser would not help there.
        if not line.text.lstrip().startswith("{"):
            raise self._format_error(line, f"an object of JSON, got {line.text.strip()!r:.60}")
        with as_configuration_error():
            # With `is_line`, an error names the line of the file, not line 1 of its text.
            fields: dict[str, Any] = parse_json(line.text, line.location, is_line=True)
        return fields

    def tokenize_field(self, line: Line, fields: dict[str, Any], key: str) -> list[Token]:
        """Tokenizes the text in the field `key`. Raises `ConfigurationError` if it is no text."""
        text = fields.get(key)
        if not isinstance(text, str):
            raise self._format_error(line, f'a text as "{key}"')
        return self.tokenize(line, text)

    def tokenize(self, line: Line, text: str) -> list[Token]:
        """Splits a text into words. An error of the tokenizer becomes one that names the line."""
        try:
            return self.tokenizer.tokenize(text)
        except ConfigurationError as error:
            raise line.error(error) from None

    def read_label(self, line: Line, fields: dict[str, Any], key: str) -> str:
        """
        Returns the label in the field `key`. Raises `ConfigurationError` if it is missing, blank or
        no text.
        """
        label = fields.get(key)
        if not isinstance(label, str) or not label.strip():
            raise self._format_error(line, f'a label as "{key}"')
        return label

    def _format_error(self, line: Line, expected: str) -> ConfigurationError:
        """Returns the error for a line in another format; it names the command that reads it."""
        return line.error(f"expected {expected}; `elmo import {self.task}` reads other files")


class KnownLabelField(LabelField):
    """
    A label that should be in the vocabulary. If it is not, a warning is logged and its index is
    `UNKNOWN_TAG`, by which a model recognizes it: `Classifier` refuses it in training, and counts
    it as wrong in an evaluation.
    """

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        if self.label in known:
            super().index(vocab)
            return
        _warn_of_unknown_label(str(self.label), tuple(known))
        self._label_id = UNKNOWN_TAG


@cache
def _warn_of_unknown_label(label: str, known: tuple[str, ...]) -> None:
    """Warns that a model lacks a label. The cache makes it warn only once for each label."""
    message = f"the model has no label {label!r}, only {', '.join(known)}"
    message = message[:_MOST_CHARACTERS_OF_LABELS]
    logger.warning("%s: it counts as wrong%s", message, did_you_mean(label, known))


def number_of_labels(vocab: Vocabulary) -> int:
    """Checks the labels of a vocabulary, see `check_labels`, and returns their number."""
    check_labels(vocab)
    return vocab.get_vocab_size("labels")


def check_labels(vocab: Vocabulary) -> None:
    """
    Raises `ConfigurationError` if some labels are words and some are numbers: then training and
    validation data seem to have different names for the same labels, such as "neutral" and "1".
    """
    labels = vocab.get_token_to_index_vocabulary("labels")
    numbers = [label for label in labels if label.isdecimal()]
    num_words = len(labels) - len(numbers)
    # A single label of one kind may be meant, such as the number 0 among words.
    if len(numbers) > 1 and num_words > 1:
        message = f"expected labels that are words or numbers, got both: {', '.join(labels)}"
        message = message[:_MOST_CHARACTERS_OF_LABELS]
        raise ConfigurationError(f"{message}; `elmo import --label-names` gives names to numbers")
