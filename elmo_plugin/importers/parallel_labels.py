"""Texts and labels in two files, a line for each: TweetEval's, or seq.in and label."""

import re
from collections.abc import Iterator
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_lines

_TEXTS_OF_INTENTS = "seq.in"  # of ATIS and SNIPS; the file `label` has their intents
_TEXT_IN_NAME = re.compile(r"texts?(?=\.|$)")


def labels_beside(file: str) -> str | None:
    """
    Returns the file with the labels of a file of texts, or `None` if it does not exist. It is
    called `train_labels.txt` or `train_label.txt` beside `train_text.txt`, and `label` beside
    `seq.in`.
    """
    path = Path(file)
    if path.name == _TEXTS_OF_INTENTS:
        names = ["label"]
    elif _TEXT_IN_NAME.search(path.name):
        names = [_TEXT_IN_NAME.sub("labels", path.name), _TEXT_IN_NAME.sub("label", path.name)]
    else:
        return None
    for name in names:
        labels_file = path.with_name(name)
        if labels_file.exists():
            return str(labels_file)
    return None


def records_of_two_files(
    file: str, labels_file: str, options: ImportOptions, report: Report
) -> Iterator[Record]:
    """
    Yields the texts of a file with the labels of another. Raises `ConfigurationError` if their
    numbers of lines differ.
    """
    texts = read_lines(file, options, report)
    labels = read_lines(labels_file, options, report)
    if len(texts) != len(labels):
        raise ConfigurationError(
            f"{labels_file}: expected a label for each line of {file}, which has {len(texts):,} "
            f"lines, got {len(labels):,}"
        )
    report.took(f"a text in each line, whose label is in the same line of {labels_file}")
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        yield Record(file, f"line {number}", {"text": text.strip(), "label": label.strip()})
