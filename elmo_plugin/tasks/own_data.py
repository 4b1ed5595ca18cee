"""Reads the data of a configuration once, to report what is in them."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.fields import SequenceLabelField

_MOST_LABELS = 12  # that are listed


@contextmanager
def _shown_messages() -> Iterator[None]:
    """Prints the readers' log."""
    handler, logger = logging.StreamHandler(sys.stdout), logging.getLogger("elmo_plugin.tasks")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def describe_data(config: Path) -> Iterator[str]:
    """
    Reads the files of a configuration, and yields a line with the number of examples in each file and their
    labels. Prints the readers' log.

    Raises `ConfigurationError` if a file cannot be read or has a label that the training data lack.
    """
    params = Params.from_file(config).params
    readers = {"train": params["dataset_reader"]}
    readers["test"] = readers["validation"] = params.get("validation_dataset_reader", readers["train"])
    known: Counter[str] = Counter()
    for part in ("train", "validation", "test"):
        if (path := params.get(f"{part}_data_path")) is None:
            continue
        number, has_entities, labels, tags = 0, False, Counter[str](), Counter[str]()
        with _shown_messages():
            for instance in DatasetReader.from_params(Params(readers[part]).duplicate()).read(path):
                number += 1
                if "label" in instance.fields:
                    labels[str(getattr(instance["label"], "label", None))] += 1
                elif isinstance(field := instance.fields.get("tags"), SequenceLabelField):
                    tags.update(map(str, field.labels))
                    has_entities |= getattr(field, "encoding", None) is not None
        if has_entities:
            begin = {tag: count for tag, count in tags.items() if tag[0] in "BU"}
            tags = Counter()
            for tag, count in begin.items():
                tags[tag[2:] or "without a type"] += count
        counts = [f"{name} ({count:,})" for name, count in (labels or tags).most_common(_MOST_LABELS)]
        counts += ["…"] * (len(labels or tags) > _MOST_LABELS)
        what = "entities" if has_entities else "labels"
        yield f"{path}: {number:,} examples" + (f"; {what}: {', '.join(counts)}" if counts else "")
        known = known or labels
        if unknown := sorted(labels.keys() - known):
            raise ConfigurationError(f"{path}: the label {unknown[0]!r} is not in the training data")
