"""Texts with a label, from JSON lines, CSV and TSV."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import TokenIndexer, Vocabulary
from allennlp.data.fields import LabelField
from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_plugin.common.errors import did_you_mean
from elmo_plugin.tasks.dataset_reader import Line, TaskDatasetReader
from elmo_plugin.tasks.records import (
    Record,
    Skipped,
    UnusableExample,
    detect_format,
    find_field,
    parse_records,
)
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer, raw_text_tokenizer

logger = logging.getLogger(__name__)

AUTO = "auto"
_USUAL_LABELS = (
    *("gold_label", "label", "sentiment", "category", "class", "target", "intent"),
    *("entailment_judgment", "entailment_label", "is_duplicate", "quality"),
)
_WHOLE_NUMBER = re.compile(r"^(-?\d+)\.0+$")


class LabeledTextsReader(TaskDatasetReader):
    """
    The base of readers of texts with a label, each text in a column of a table (CSV, TSV) or a
    field of JSON lines. The log says which.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`
        How words become tensors.
    tokenizer : `Tokenizer`, optional (default = `PennTreebankTokenizer()`)
        How texts become words. The default splits them like the text that biLMs are trained on; it
        is for languages with spaces between words, and makes each Han or Kana character a word.
    format : `str`, optional (default = `"auto"`) "jsonl" (or a list of objects), "csv", "tsv" or
        "fasttext"; by default it is found from the name and the first line.
    label_column : `str`, optional (default = `"auto"`)
        The name of the column, or of the key, of the label, by default one of the usual names;
        `null` for texts without labels. Any words and numbers are labels.
    label_names : `list[str]`, optional (default = `None`)
        The names of labels that are numbers, from 0.
    columns : `list[str]`, optional (default = `None`)
        The names of the columns of a table without a header.
    skip_bad : `bool`, optional (default = `False`)
        Skip texts that cannot be used, such as those without a label. The log has their number for
        each reason, and the first lines.
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
        self.text_columns: dict[str, tuple[str, Sequence[str]]]
        self._label_column = label_column
        self._label_names = label_names
        self._columns = columns
        self._skip_bad = skip_bad

    def reason_to_skip(self, texts: list[list[Token]], label: str | None) -> str | None:
        """Returns why the usual training sets leave this record out, or `None`."""
        return None

    def read_records(self, lines: Iterable[Line], examples: str) -> Iterator[tuple[Any, ...]]:
        """
        Yields the words of the texts of each record, in the order of `text_columns`, and the label.
        Logs what is skipped, as `examples`.
        """
        skipped = Skipped(self._skip_bad)
        fields: list[str] = []
        label_field: str | None = None
        for record in self._records(lines, skipped):
            line, values = record
            if not fields:
                skipped.file = line.file
                for option, (name, usual) in self.text_columns.items():
                    fields.append(find_field(record, usual, option, None if name == AUTO else name))
                label_field = self._find_label(record)
                found = [*fields, *filter(None, [label_field])]
                logger.info("%s: texts and label are %s", line.file, ", ".join(map(repr, found)))
            try:
                texts = [self._words(values.get(field), field) for field in fields]
                label = self._label(values.get(label_field), label_field) if label_field else None
                reason = self.reason_to_skip(texts, label)
                if reason is None and not all(texts):
                    raise UnusableExample("that are blank", "the text is blank")
            except ConfigurationError as error:
                skipped.skip_or_raise(error, line.location, line.place)
                continue
            if reason is None:
                yield *texts, label
            else:
                skipped.add(reason, line.place)
        skipped.log(examples)

    def _records(self, lines: Iterable[Line], skipped: Skipped) -> Iterator[Record]:
        """
        Returns the records of a file; if no labels are needed, lines of text without a format are
        some.
        """
        lines = iter(lines)
        first = next(lines, None)
        if first is None:
            return iter(())
        lines = chain([first], lines)
        if not self.needs_labels and self.format == AUTO and detect_format(first) is None:
            name = next(iter(self.text_columns.values()))[1][0]
            return ((line, {name: line.text.strip()}) for line in lines if line.text.strip())
        label = next((name for name in self._columns or () if name.lower() in _USUAL_LABELS), None)
        label = (
            None
            if self.needs_labels
            else self._label_column
            if self._label_column != AUTO
            else label
        )
        return parse_records(
            lines, format=self.format, columns=self._columns, skipped=skipped, optional=label
        )

    def _find_label(self, record: Record) -> str | None:
        """
        Returns the field of the label; `None` if there is none, which is an error if labels are
        needed.
        """
        if self._label_column is None:
            return None
        name = None if self._label_column == AUTO else self._label_column
        try:
            field = find_field(record, _USUAL_LABELS, "label_column", name)
        except ConfigurationError:
            if self.needs_labels:
                raise
            return None
        return (
            field
            if self.needs_labels or record[1][field] not in (None, "", -1, "-1", "-")
            else None
        )

    def _words(self, text: Any, field: str) -> list[Token]:
        if not isinstance(text, str):
            raise UnusableExample(f"without a {field!r}", f'expected text as "{field}"')
        return self.tokenizer.tokenize(text)

    def _label(self, value: Any, field: str) -> str:
        """Returns the label as a word; numbers have no decimals."""
        is_fraction = isinstance(value, float) and not value.is_integer()
        text = str(value).lower() if isinstance(value, bool) else str(value)
        text = " ".join(text.split())
        if not text or value is None or isinstance(value, list | dict) or is_fraction:
            raise UnusableExample(
                "without a label", f'expected a label as "{field}", got {value!r:.60}'
            )
        text = _WHOLE_NUMBER.sub(r"\1", text)
        names = self._label_names
        if names and text not in names and text != "-1":
            if not text.isdecimal() or int(text) >= len(names):
                raise UnusableExample(
                    "without a label", f'"{field}" is not in label_names: {text!r}'
                )
            text = names[int(text)]
        return text


class KnownLabelField(LabelField):
    """A label that must be in the vocabulary."""

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        if self.label not in known:
            message = f"the model has no label {self.label!r}, only {', '.join(known)}"[:500]
            raise ConfigurationError(message + did_you_mean(str(self.label), known))
        super().index(vocab)


def number_of_labels(vocab: Vocabulary) -> int:
    """
    Returns the number of labels. Raises `ConfigurationError` if words and numbers name them, as if
    training and validation data had different names.
    """
    labels = vocab.get_token_to_index_vocabulary("labels")
    numbers = [label for label in labels if label.isdecimal()]
    if len(numbers) > 1 and len(labels) - len(numbers) > 1:
        raise ConfigurationError(
            f"expected labels that are words or numbers, got both: {', '.join(labels)}"[:500]
            + "; the option label_names names those that are numbers"
        )
    return vocab.get_vocab_size("labels")
