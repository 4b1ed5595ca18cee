"""Texts with a label, from tables, JSON, folders and the treebank's trees."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.importers.label_values import label_of
from elmo_plugin.importers.labeled_records import LABEL, LABEL_NAMES, find_fields, read_records
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.importers.text import read_lines
from elmo_plugin.tasks.sst import FINE_LABELS, read_phrases

TEXT = "text"
_USUAL = {
    TEXT: ("text", "sentence", "review", "phrase", "tweet", "comment", "content"),
    LABEL: LABEL_NAMES,
}


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
        if not os.path.isdir(file) and is_treebank(file):
            report.took("trees, one in each line")
            yield from _trees(file, read_lines(file, options, report))
            return
        records = read_records(file, options, report, _USUAL)
        if not records:
            return
        fields = find_fields(records, _USUAL, options, report)
        for record in records:
            text = record.fields.get(fields[TEXT])
            try:
                if not isinstance(text, str) or not text.strip():
                    raise Unusable("without a text")
                label = label_of(record.fields.get(fields[LABEL]), options.labels)
            except Unusable as error:
                report.leave_out(error.reason, record.place)
                continue
            yield LabeledText(" ".join(text.split()), label)

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
    def labels(self, example: LabeledText) -> Iterable[str]:
        return [example.label]

    @overrides
    def text(self, example: LabeledText) -> str:
        return example.text


def is_treebank(file: str) -> bool:
    """Returns whether the first line of a file begins a tree."""
    if file.endswith((".gz", ".zst")):
        return False
    with open(file, "rb") as content:
        return content.read(1000).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"(")


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
        sentence = read_phrases(line.strip(), place)[0]
        label = sentence.label
        if label.isdecimal():
            label = FINE_LABELS[int(label)]
        yield LabeledText(" ".join(sentence.words), label, line.strip())
