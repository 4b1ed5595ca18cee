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
from elmo_plugin.tasks.sst_trees import FINE_LABELS, read_phrases

TEXT = "text"
_USUAL_NAMES = {
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
"""The names of the two texts in data sets of pairs of texts, as `elmo import snli` reads them."""
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
            records = read_records(file, options, report, _USUAL_NAMES)
        else:
            text = read_text(file, options, report)
            if _is_treebank(text):
                report.took("trees, one in each line")
                yield from _trees(file, text.split("\n"))
                return
            records = records_in_text(file, text, options, report, _USUAL_NAMES)
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
    def check(self, file: str, examples: Sequence[LabeledText]) -> list[str]:
        some_text_has_letters = any(_has_letter(example.text) for example in examples)
        if len(examples) > 1 and not some_text_has_letters:
            raise ConfigurationError(
                f"{file}: no text has a letter, as {examples[0].text!r:.60}; --column {TEXT}=NAME "
                "chooses other texts"
            )
        return []

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
    Yields the texts of records with their labels. A record is left out and reported if it lacks
    a text or a label, or has several labels.
    """
    if not records:
        return
    # If --column chooses the text, it may be one of the two texts of a pair.
    if TEXT not in options.columns:
        _refuse_pairs(records[0])
    fields = FieldFinder(records, _USUAL_NAMES).find(options, report)
    for record in records:
        try:
            text = text_of(record.fields.get(fields[TEXT]), reason="without a text")
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


def _is_treebank(text: str) -> bool:
    """Returns whether the first line of a text is a tree."""
    first = text.lstrip().partition("\n")[0]
    return _TREE.fullmatch(first) is not None


def _trees(file: str, lines: Sequence[str]) -> Iterator[LabeledText]:
    """
    Yields the sentences of a treebank with their labels and trees. Raises `ConfigurationError`,
    naming file and line, for a malformed tree.
    """
    for number, line in enumerate(lines, start=1):
        tree = line.strip()
        if not tree:
            continue
        place = f"{file}, line {number}"
        if not tree.startswith("("):
            raise ConfigurationError(
                f"{place}: expected a tree, such as (3 (2 Not) (1 bad)), got {tree!r:.60}"
            )
        sentence = read_phrases(tree, place)[0]  # the further phrases are parts of the sentence
        label = sentence.label
        # A tree without inner brackets may have a word as its label, as in (positive Not bad).
        if label.isdecimal():
            label = FINE_LABELS[int(label)]
        yield LabeledText(" ".join(sentence.words), label, tree)
