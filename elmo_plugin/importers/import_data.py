"""Imports the files of a data set: reads them, reports, and writes the one form of their task."""

import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import did_you_mean
from elmo_plugin.common.files import atomic_write
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.task_importer import TaskImporter

_MAX_LISTED = 12
_SEED = 13370  # of the split, so that the same files are split alike


@dataclass
class ImportedData:
    """The examples of each part of a data set, and the remarks about them."""

    parts: dict[str, list[Any]]
    lines: list[str]


def read_data(
    importer: TaskImporter[Any],
    files: Mapping[str, Path],
    options: ImportOptions,
    split: float | None = None,
) -> ImportedData:
    """
    Reads the files of a data set, which `files` has by their parts: "train", "dev" and "test". If
    "dev" is missing and `split` is given, this share of the training data becomes "dev". All
    examples are held in memory, so that they can be counted and split.

    Raises `ConfigurationError` if a file cannot be read or contains no example, or has a label that
    the training data lack.
    """
    data = ImportedData({}, [])
    for part, path in files.items():
        file = _shown(path)
        report = Report(file)
        examples = list(importer.read(file, options, report))
        data.lines += report.lines(importer.examples)
        if not examples:
            raise ConfigurationError(_nothing_left(file, importer, report))
        data.lines += importer.check(file, examples)
        data.parts[part] = examples
    if split is not None and "dev" not in data.parts:
        _split_training_data(importer, data, split)
    data.lines += _describe(importer, data.parts)
    return data


def _split_training_data(importer: TaskImporter[Any], data: ImportedData, split: float) -> None:
    """Moves a share of the training data to "dev", and says so."""
    examples = data.parts.pop("train")
    train, dev = split_examples(importer, examples, split)
    data.lines.append(
        f"dev: {len(dev):,} of {len(train) + len(dev):,} {importer.examples} of the training "
        f"data, drawn by chance (--split {split})"
    )
    # "train" stands first because `_describe` compares the labels of other parts with its labels.
    data.parts = {"train": train, "dev": dev} | data.parts


def _shown(path: Path) -> str:
    """Returns a path relative to the working directory if it is below it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _nothing_left(file: str, importer: TaskImporter[Any], report: Report) -> str:
    """Returns the message that a file lacks usable examples, with the reasons."""
    message = f"{file}: no {importer.examples} in this file"
    if report.left_out:
        message += f" that can be used: {report.reasons()}"
    return message


def split_examples(
    importer: TaskImporter[Any], examples: Sequence[Any], share: float
) -> tuple[list[Any], list[Any]]:
    """
    Returns the training and the development data. Examples of one document stay together.

    Raises `ConfigurationError` if there are too few examples, or documents, for both.
    """
    if not 0 < share < 1:
        raise ConfigurationError(f"--split: expected a share between 0 and 1, got {share}")
    # The numbers of the examples of each document. An example without a document is a group alone,
    # under its number.
    groups: dict[str | int, list[int]] = {}
    for number, example in enumerate(examples):
        group = importer.document(example) or number
        groups.setdefault(group, []).append(number)
    if len(groups) < 2:
        raise ConfigurationError(
            f"--split: expected at least two {importer.examples} or documents, got {len(groups)}"
        )
    names = list(groups)
    random.Random(_SEED).shuffle(names)
    num_wanted = max(1, round(share * len(examples)))
    drawn: set[int] = set()  # the numbers of the development examples
    for name in names[:-1]:  # at least the last group is left for training
        if len(drawn) >= num_wanted:
            break
        drawn.update(groups[name])
    train = [example for number, example in enumerate(examples) if number not in drawn]
    dev = [example for number, example in enumerate(examples) if number in drawn]
    return train, dev


def _describe(importer: TaskImporter[Any], parts: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """
    Yields a line about each part: how many examples it has, and with which labels. "train" must be
    the first part, because the labels of the others are compared with its labels.

    Raises `ConfigurationError` for a label of dev or test that the training data lack.
    """
    training_labels: Counter[str] = Counter()
    for part, examples in parts.items():
        counts = _count_labels(importer, examples)
        line = f"{part}: {len(examples):,} {importer.examples}"
        if counts:
            line += f"; {importer.kind_of_labels}: {_list_counts(counts)}"
        yield line
        if part == "train":
            training_labels = counts
            if len(counts) == 1 and importer.needs_two_labels:
                yield f"{part}: with one label there is nothing to learn"
        else:
            yield from _describe_new_labels(importer, part, counts, training_labels)


def _count_labels(importer: TaskImporter[Any], examples: Sequence[Any]) -> Counter[str]:
    """Counts the labels of all examples."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(importer.labels(example))
    return counts


def _describe_new_labels(
    importer: TaskImporter[Any], part: str, counts: Counter[str], training_labels: Counter[str]
) -> Iterator[str]:
    """
    Yields a line about the labels of a part that the training data lack, if there are any. Raises
    `ConfigurationError` if the task refuses such labels.
    """
    new: Counter[str] = Counter()
    for label, count in counts.items():
        if label not in training_labels:
            new[label] = count
    if not new:
        return
    if importer.refuses_new_labels:
        label = min(new)  # the first in the alphabet
        raise ConfigurationError(
            f"{part}: the label {label!r} is not in the training data"
            + did_you_mean(label, list(training_labels))
        )
    yield (
        f"{part}: no model can learn {importer.kind_of_labels} that the training data lack: "
        f"{_list_counts(new)}"
    )


def _list_counts(counts: Counter[str]) -> str:
    """Returns the most frequent names with their counts, such as "PER (12), LOC (3)"."""
    listed = [f"{name} ({count:,})" for name, count in counts.most_common(_MAX_LISTED)]
    if len(counts) > _MAX_LISTED:
        listed.append("…")
    return ", ".join(listed)


def write_data(
    importer: TaskImporter[Any], parts: Mapping[str, Sequence[Any]], folder: Path
) -> dict[str, Path]:
    """
    Writes a file for each part into a new folder, in the one form of the task. The folder is
    written whole or not at all. Returns the files by their parts.
    """
    files = {}
    with atomic_write(folder) as temporary:
        temporary.mkdir()
        for part, examples in parts.items():
            name = part + importer.suffix
            with (temporary / name).open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(importer.write(examples))
            files[part] = folder / name
    return files
