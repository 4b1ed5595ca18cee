"""Texts with a label, from JSON lines, CSV and TSV."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer, Vocabulary
from allennlp.data.fields import LabelField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader
from elmo_plugin.tasks.records import Record, find_field, parse_records
from elmo_plugin.tasks.skipped import Skipped, UnusableExample
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer, raw_text_tokenizer

logger = logging.getLogger(__name__)

AUTO = "auto"
_USUAL_LABELS = (
    *("gold_label", "label", "sentiment", "category", "class", "target", "intent"),
    *("entailment_judgment", "entailment_label", "is_duplicate", "quality"),
)
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")


class LabeledTextsReader(TaskDatasetReader):
    """
    The base of readers of texts with a label, each text in a column of a table (CSV, TSV) or a field of JSON
    lines. The log says which.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How texts become words. The default splits them like the text that biLMs are trained on; it is for
        languages with spaces between words, and makes each Han or Kana character a word.
    format : `str`, optional (default = `"auto"`)
        "jsonl", "csv" or "tsv"; by default it is found from the name and the first line.
    label_column : `str`, optional (default = `"auto"`)
        The name of the column, or of the key, of the label, by default one of the usual names; `null` for
        texts without labels. Any words and numbers are labels.
    label_names : `list[str]`, optional (default = `None`)
        The names of labels that are numbers, from 0.
    columns : `list[str]`, optional (default = `None`)
        The names of the columns of a table without a header.
    skip_bad : `bool`, optional (default = `False`)
        Skip texts that cannot be used, such as those without a label. The log has their number for each
        reason, and the first lines.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer],
        *,
        tokenizer: Tokenizer = None,
        format: str = AUTO,
        label_column: str | None = AUTO,
        label_names: list[str] | None = None,
        columns: list[str] | None = None,
        skip_bad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.tokenizer = raw_text_tokenizer(tokenizer, PennTreebankTokenizer)
        self.format = format
        self._label_column = label_column
        self._label_names = label_names
        self._columns = columns
        self._skip_bad = skip_bad

    def read_texts(
        self, lines: Iterable[Line], options: Mapping[str, tuple[str, Sequence[str]]], skipped: Skipped
    ) -> Iterator[tuple[Line, list[list[Token]], str | None]]:
        """
        Yields the words of the texts of each record, in the order of the `options` for their columns, each
        with its value and the usual names; and the label.
        """
        fields: list[str] = []
        for record in parse_records(lines, format=self.format, columns=self._columns, skipped=skipped):
            line, values = record
            if not fields:
                skipped.file = line.file
                fields = [
                    self._find(record, option, *option_names) for option, option_names in options.items()
                ]
                if self._label_column is not None:
                    fields.append(self._find(record, "label_column", self._label_column, _USUAL_LABELS))
                logger.info("%s: texts and label are %s", line.file, ", ".join(map(repr, fields)))
            try:
                texts = [self._words(values.get(field), field) for field in fields[: len(options)]]
                label = (
                    None if self._label_column is None else self._label(values.get(fields[-1]), fields[-1])
                )
            except ConfigurationError as error:
                skipped.add_unusable(error, line.location, f"line {line.number}")
            else:
                yield line, texts, label

    def _find(self, record: Record, option: str, name: str, usual: Sequence[str]) -> str:
        return find_field(record, usual, option, None if name == AUTO else name)

    def _words(self, text: Any, field: str) -> list[Token]:
        if not isinstance(text, str):
            raise UnusableExample(f"without a {field!r}", f'expected text as "{field}"')
        return self.tokenizer.tokenize(text)

    def _label(self, value: Any, field: str) -> str:
        """Returns the label as a word; numbers have no decimals."""
        is_fraction = isinstance(value, float) and not value.is_integer()
        if value in (None, "") or isinstance(value, list | dict) or is_fraction:
            raise UnusableExample("without a label", f'expected a label as "{field}", got {value!r:.60}')
        text = (
            str(value).lower()
            if isinstance(value, bool)
            else " ".join(str(value).replace(BYTE_ORDER_MARK, "").split())
        )
        if match := _WHOLE_NUMBER.fullmatch(text):
            text = match[1]
        names = self._label_names
        if names and text not in names and text != "-1":
            if not text.isdecimal() or int(text) >= len(names):
                raise UnusableExample("without a label", f'"{field}" is not in label_names: {text!r}')
            text = names[int(text)]
        return text


class KnownLabelField(LabelField):
    """A label that must be in the vocabulary."""

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        if self.label not in known:
            raise ConfigurationError(f"the model has no label {self.label!r}, only {', '.join(known)}"[:500])
        super().index(vocab)
