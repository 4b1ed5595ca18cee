"""Texts with a label, from tables, JSON, folders and the treebank's trees."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.importers.field_finder import LABEL, LABEL_NAMES, FieldFinder
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.label_values import label_of, text_of
from elmo_plugin.importers.labeled_records import read_records, records_in_text
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.tables import is_binary_table
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.text import read_text
from elmo_plugin.tasks.sst import FINE_LABELS, read_phrases

TEXT = "text"
_USUAL = {
    TEXT: (
        "text",
        "sentence",
        "review",
        "phrase",
        "tweet",
        "comment",
        "content",
        "tokens",
        "words",
    ),
    LABEL: LABEL_NAMES,
}
_PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("question", "sentence"),
)
"""The names of fields that show that data have pairs of texts, for another task."""
_TREE = re.compile(r"\(\S+ ?(\([^\t]*|[^()\t]+)\)\s*")


class LabeledText(NamedTuple):
    """A text and its label, and the tree of it, if it came from a treebank."""

    text: str
    label: str
    tree: str | None = None


class ClassifyImporter(TaskImporter[LabeledText]):
    """Imports texts with any label."""

    examples = "texts"
    suffix = ".jsonl"
    roles = (TEXT, LABEL)
    needs_two_labels = True
    refuses_new_labels = True

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[LabeledText]:
        if os.path.isdir(file) or is_binary_table(file):
            records = read_records(file, options, report, _USUAL)
        else:
            text = read_text(file, options, report)
            if is_treebank(text):
                report.took("trees, one in each line")
                yield from _trees(file, text.split("\n"))
                return
            records = records_in_text(file, text, options, report, _USUAL)
        yield from _labeled_texts(records, options, report)

    @overrides
    def write(self, examples: Sequence[LabeledText]) -> Iterator[str]:
        """Yields a tree, or an object with `text` and `label`, in each line."""
        for example in examples:
            if example.tree is not None:
                yield example.tree + "\n"
            else:
                content = {"text": example.text, "label": example.label}
                yield json.dumps(content, ensure_ascii=False) + "\n"

    @overrides
    def check(self, file: str, examples: Sequence[LabeledText]) -> Iterator[str]:
        yield from ()  # makes this a generator, as in the base, though it says nothing
        if len(examples) > 1 and not any(_has_letter(example.text) for example in examples):
            raise ConfigurationError(
                f"{file}: no text has a letter, as {examples[0].text!r:.60}; --column {TEXT}=NAME "
                "chooses other texts"
            )

    @overrides
    def labels(self, example: LabeledText) -> Iterable[str]:
        return [example.label]

    @overrides
    def text(self, example: LabeledText) -> str:
        return example.text


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _labeled_texts(
    records: Sequence[Record], options: ImportOptions, report: Report
) -> Iterator[LabeledText]:
    """
    Yields the texts of records with their labels. Records without a text, or without just one
    label, are left out and reported.
    """
    if not records:
        return
    if TEXT not in options.columns:  # a chosen column may be one of a pair
        _refuse_pairs(records[0])
    fields = FieldFinder(records, _USUAL).find(options, report)
    for record in records:
        try:
            text = text_of(record.fields.get(fields[TEXT]), "without a text")
            label = label_of(record.fields.get(fields[LABEL]), options.labels)
        except Unusable as error:
            report.leave_out(error.reason, record.place)
            continue
        yield LabeledText(text, label)


def _refuse_pairs(record: Record) -> None:
    """Raises `ConfigurationError` if a record has the two texts of a task such as SNLI."""
    for names in _PAIRS:
        if set(names) <= record.fields.keys():
            raise record.error(
                f"expected one text with a label, got {names[0]!r} and {names[1]!r}; `elmo import "
                f"snli` reads pairs, and --column {TEXT}=NAME takes one of them"
            )


def is_treebank(text: str) -> bool:
    """Returns whether the first line of a text is a tree."""
    first = text.lstrip().partition("\n")[0]
    return _TREE.fullmatch(first) is not None


def _trees(file: str, lines: Sequence[str]) -> Iterator[LabeledText]:
    """Yields the sentences of a treebank. Raises `ConfigurationError` for a malformed tree."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        if not line.strip().startswith("("):
            raise ConfigurationError(
                f"{place}: expected a tree, such as (3 (2 Not) (1 bad)), got {line.strip()!r:.60}"
            )
        sentence, *_ = read_phrases(line.strip(), place)  # the other phrases are parts of it
        label = sentence.label
        if label.isdecimal():  # a text without phrases may have a word instead
            label = FINE_LABELS[int(label)]
        yield LabeledText(" ".join(sentence.words), label, line.strip())
