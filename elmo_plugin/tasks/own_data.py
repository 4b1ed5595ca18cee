"""Reads the data of a configuration once, to report what is in them."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField, SequenceLabelField

_READERS = ("dataset_reader", "validation_dataset_reader")
_MOST_LABELS = 12  # that are listed


class _Messages(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def _messages_of_readers() -> Iterator[list[str]]:
    messages, logger = _Messages(), logging.getLogger("elmo_plugin.tasks")
    level = logger.level
    logger.addHandler(messages)
    logger.setLevel(logging.INFO)
    try:
        yield messages.lines
    finally:
        logger.setLevel(level)
        logger.removeHandler(messages)


def describe_data(config: Path) -> Iterator[str]:
    """
    Reads the files of a configuration, and yields lines with what the readers log, and with the number of
    examples in each file and their labels.

    Raises `ConfigurationError` if a file cannot be read or has a label that the training data lack.
    """
    params = Params.from_file(config).params
    readers = [_make_reader(params[key]) for key in _READERS if key in params]
    known: Counter[str] = Counter()
    for part, reader in (("train", readers[0]), ("validation", readers[-1]), ("test", readers[-1])):
        if (path := params.get(f"{part}_data_path")) is None:
            continue
        with _messages_of_readers() as messages:
            number, labels, is_classified = _count(reader.read(path))
        yield from messages
        listed = [f"{label} ({count:,})" for label, count in labels.most_common(_MOST_LABELS)]
        more = ["…"] * (len(labels) > _MOST_LABELS)
        yield f"{path}: {number:,} examples" + (f"; labels: {', '.join(listed + more)}" if labels else "")
        known = known or labels
        if is_classified and (unknown := sorted(labels.keys() - known)):
            raise ConfigurationError(f"{path}: the label {unknown[0]!r} is not in the training data")


def _make_reader(options: Any) -> DatasetReader:
    return DatasetReader.from_params(Params(options).duplicate())


def _count(instances: Iterable[Instance]) -> tuple[int, Counter[str], bool]:
    """Returns the number of instances, and of their labels or tags; and whether they have labels."""
    number, labels, is_classified = 0, Counter[str](), False
    for instance in instances:
        number += 1
        label, tags = instance.fields.get("label"), instance.fields.get("tags")
        if isinstance(label, LabelField):
            labels[str(label.label)] += 1
            is_classified = True
        elif isinstance(tags, SequenceLabelField):
            labels.update(map(str, tags.labels))
    return number, labels, is_classified
