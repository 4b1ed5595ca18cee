"""Reads the data of a configuration once, to report their content."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.fields import SequenceLabelField

from elmo_plugin.common.errors import did_you_mean

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


def describe_data(params: Mapping[str, Any]) -> Iterator[str]:
    """
    Reads the files of a configuration, and yields a line with the number of examples in each file
    and their labels, and one with the tags that the training data lack. Prints the readers' log.

    Raises `ConfigurationError` if a file cannot be read, has a label that the training data lack,
    or has no entities for a model of entities.
    """
    readers = {"train": params["dataset_reader"]}
    readers["test"] = readers["validation"] = params.get(
        "validation_dataset_reader", readers["train"]
    )
    known: Counter[str] = Counter()
    for part in ("train", "validation", "test"):
        if (path := params.get(f"{part}_data_path")) is None:
            continue
        number, has_entities, labels, tags = 0, False, Counter[str](), Counter[str]()
        first: dict[str, int] = {}  # example with each label
        reader = DatasetReader.from_params(Params(readers[part]).duplicate())
        with _shown_messages():
            for instance in reader.read(path):
                number += 1
                if "label" in instance.fields:
                    label = str(getattr(instance["label"], "label", None))
                    labels[label] += 1
                    first.setdefault(label, number)
                elif isinstance(field := instance.fields.get("tags"), SequenceLabelField):
                    tags.update(map(str, field.labels))
                    has_entities |= getattr(field, "encoding", None) is not None
        if params["model"].get("tag_encoding") and not has_entities and tags.keys() - {"O"}:
            others = ", ".join(map(repr, getattr(reader, "other_columns", [])))
            raise ConfigurationError(
                f"{path}: tags such as {', '.join(sorted(tags)[:5])} mark no entities: `elmo new "
                "tag` learns tags of any kind"
                + f", and tag_column chooses another column, {others}"
                * bool(others)
            )
        shown = labels or tags
        if has_entities:
            shown = Counter[str]()
            for tag, count in tags.items():
                shown[tag[2:] or "without a type"] += count * (tag[0] in "BU")
            shown = +shown
        counts = ", ".join(_counted(shown))
        what = "entities" if has_entities else "labels"
        yield f"{path}: {number:,} examples" + (f"; {what}: {counts}" if counts else "")
        if not known and len(labels or tags) == 1:
            yield f"{path}: with one label there is nothing to learn"
        known = known or labels or tags
        if unknown := sorted(labels.keys() - known):
            raise ConfigurationError(
                f"{path}, example {first[unknown[0]]}: the label {unknown[0]!r} is not in the "
                "training data" + did_you_mean(unknown[0], known)
            )
        if new := Counter({tag: count for tag, count in tags.items() if tag not in known}):
            yield (
                f"{path}: no model can learn tags that the training data lack: "
                f"{', '.join(_counted(new))}"
            )


def _counted(counts: Counter[str]) -> list[str]:
    """Returns the most frequent names, each with its number."""
    most = [f"{name} ({count:,})" for name, count in counts.most_common(_MOST_LABELS)]
    return most + ["…"] * (len(counts) > _MOST_LABELS)
