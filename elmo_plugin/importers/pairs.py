"""Pairs of texts with a label, such as premises and hypotheses."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from overrides import overrides

from elmo_plugin.importers.label_values import label_of
from elmo_plugin.importers.labeled_records import LABEL, LABEL_NAMES, find_fields, read_records
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.tasks.snli import LABELS, NO_MAJORITY

PREMISE, HYPOTHESIS = "premise", "hypothesis"
_USUAL = {
    PREMISE: (
        *("premise", "sentence1", "sentence_A", "text1", "question1", "#1 String", "question"),
        "text",
    ),
    HYPOTHESIS: (
        *("hypothesis", "sentence2", "hypo", "sentence_B", "text2", "question2", "#2 String"),
        *("sentence", "aspect"),
    ),
    LABEL: LABEL_NAMES,
}


class Pair(NamedTuple):
    """Two texts, and how the second relates to the first."""

    premise: str
    hypothesis: str
    label: str


class PairImporter(TaskImporter[Pair]):
    """Imports pairs of texts with any label. Pairs without a majority for one are left out."""

    examples = "pairs"
    suffix = ".jsonl"
    roles = (PREMISE, HYPOTHESIS, LABEL)
    needs_two_labels = True
    refuses_new_labels = True

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[Pair]:
        records = read_records(file, options, report, _USUAL)
        if not records:
            return
        fields = find_fields(records, _USUAL, options, report)
        for record in records:
            texts = [record.fields.get(fields[role]) for role in (PREMISE, HYPOTHESIS)]
            try:
                if not all(isinstance(text, str) and text.strip() for text in texts):
                    raise Unusable("without one of the texts")
                label = label_of(record.fields.get(fields[LABEL]), options.labels)
                if label in NO_MAJORITY:
                    raise Unusable("without a gold label")
            except Unusable as error:
                report.leave_out(error.reason, record.place)
                continue
            premise, hypothesis = (" ".join(str(text).split()) for text in texts)
            yield Pair(premise, hypothesis, LABELS.get(label.lower(), label))

    @overrides
    def write(self, examples: Sequence[Pair]) -> Iterator[str]:
        """Yields SNLI's JSON lines."""
        for pair in examples:
            content = {
                "gold_label": pair.label,
                "sentence1": pair.premise,
                "sentence2": pair.hypothesis,
            }
            yield json.dumps(content, ensure_ascii=False) + "\n"

    @overrides
    def labels(self, example: Pair) -> Iterable[str]:
        return [example.label]

    @overrides
    def text(self, example: Pair) -> str:
        return f"{example.premise} {example.hypothesis}"
