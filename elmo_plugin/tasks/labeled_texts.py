"""Texts with a label, as JSON lines."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer, raw_text_tokenizer


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
