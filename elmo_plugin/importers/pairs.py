"""Pairs of texts with a label, such as premises and hypotheses."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.importers.field_finder import LABEL, LABEL_NAMES, FieldFinder
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.label_values import label_of, text_of
from elmo_plugin.importers.labeled_records import read_records
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.task_importer import TaskImporter
from elmo_plugin.tasks.snli import NO_MAJORITY, STANDARD_LABELS

PREMISE, HYPOTHESIS = "premise", "hypothesis"
_USUAL_NAMES = {
    PREMISE: (
        "premise",
        "sentence1",
        "sentence_A",
        "text1",
        "text_a",
        "question1",
        "#1 String",
        "question",
        "text",
        "context",
    ),
    HYPOTHESIS: (
        "hypothesis",
        "sentence2",
        "hypo",
        "sentence_B",
        "text2",
        "text_b",
        "question2",
        "#2 String",
        "sentence",
        "aspect",
    ),
    LABEL: LABEL_NAMES,
}
_THREE_NUMBERS = {"0", "1", "2"}  # of three relations, in another order in each data set
_LABELS_OF_ANLI = {"e": "entailment", "n": "neutral", "c": "contradiction"}


class Pair(NamedTuple):
    """Two texts, and how the second relates to the first."""

    premise: str
    hypothesis: str
    label: str


class PairImporter(TaskImporter[Pair]):
    """
    Imports pairs of texts with labels of any kind. A pair is left out if no majority of its
    annotators chose the same label.
    """

    examples = "pairs"
    suffix = ".jsonl"
    roles = (PREMISE, HYPOTHESIS, LABEL)
    needs_two_labels = True
    refuses_new_labels = True

    @overrides
    def read(self, file: str, options: ImportOptions, report: Report) -> Iterator[Pair]:
        records = read_records(file, options, report, _USUAL_NAMES)
        if not records:
            return
        fields = FieldFinder(records, _USUAL_NAMES).find(options, report)
        pairs = []
        for record in records:
            try:
                pairs.append(_pair_of(record, fields, options))
            except Unusable as error:
                report.leave_out(error.reason, record.place)
        # If other labels occur too, "n" may mean "no".
        if {pair.label for pair in pairs} <= _LABELS_OF_ANLI.keys():
            pairs = [pair._replace(label=_LABELS_OF_ANLI[pair.label]) for pair in pairs]
        yield from pairs

    @overrides
    def check(self, file: str, examples: Sequence[Pair]) -> list[str]:
        labels = {pair.label for pair in examples}
        # Without a 2, the labels answer a question by yes or no, and keep their numbers.
        if "2" in labels and labels <= _THREE_NUMBERS:
            listed = " and ".join(sorted(labels))
            raise ConfigurationError(
                f"{file}: the labels are {listed}, and data sets number relations differently; "
                "--label-names entailment neutral contradiction names them in this order"
            )
        return []

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


def _pair_of(record: Record, fields: Mapping[str, str], options: ImportOptions) -> Pair:
    """Returns the pair of a record. Raises `Unusable` if it lacks a text or the label."""
    premise = text_of(record.fields.get(fields[PREMISE]), "without one of the texts")
    hypothesis = text_of(record.fields.get(fields[HYPOTHESIS]), "without one of the texts")
    label = label_of(record.fields.get(fields[LABEL]), options.labels)
    if label in NO_MAJORITY:
        raise Unusable("without a gold label")
    standard_label = STANDARD_LABELS.get(label.lower(), label)
    return Pair(premise, hypothesis, standard_label)
