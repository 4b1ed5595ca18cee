"""Records of texts with a label, from files of any form, and which of their fields is what."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.aspects import is_aspects, records_of_aspects
from elmo_plugin.importers.fasttext import is_fasttext, records_of_fasttext
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.label_folders import records_of_folder
from elmo_plugin.importers.label_values import choices_of_label_studio, is_score
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.rejected import is_rejected
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.tables import Table, is_binary_table, read_table, read_text_table
from elmo_plugin.importers.text import read_text

LABEL = "label"
LABEL_NAMES = (
    *("gold_label", "label", "labels", "sentiment", "category", "class", "target", "intent"),
    *("entailment_judgment", "entailment_label", "is_duplicate", "quality", "cats", "accept"),
)
_SHORT = 40  # characters of a label


def read_records(
    file: str, options: ImportOptions, report: Report, usual: Mapping[str, Sequence[str]]
) -> list[Record]:
    """
    Returns the records of a file or folder, without those that an annotator rejected. The `usual`
    names of the roles tell a header from a row.
    """
    if os.path.isdir(file):
        return list(records_of_folder(file, options, report))
    if is_binary_table(file):
        return _records_of_table(read_table(file, options, report), options, report, usual)
    text = read_text(file, options, report)
    if is_json(text):
        return _usable_objects(list(read_objects(file, text)), report)
    if is_fasttext(text):
        report.took("fastText's lines")
        return list(records_of_fasttext(file, text))
    if is_aspects(text):
        report.took("three lines for each aspect")
        return list(records_of_aspects(file, text))
    table = read_text_table(file, text, options, report)
    if table.width < 2:
        raise ConfigurationError(
            f"{file}, line 1: expected texts and labels, as a table, JSON lines, or a folder for "
            f"each label, got {table.rows[0].fields[0]!r:.60}; --separator names what separates "
            "columns"
        )
    return _records_of_table(table, options, report, usual)


def _usable_objects(records: Sequence[Record], report: Report) -> list[Record]:
    usable = []
    for record in records:
        if is_rejected(record.fields):
            report.leave_out("that an annotator rejected", record.place)
            continue
        choices = choices_of_label_studio(record.fields)
        if choices is not None:
            record = record._replace(fields=record.fields["data"] | {LABEL: choices})
        usable.append(record._replace(fields=_without_marks(record.fields)))
    return usable


def _without_marks(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields without byte order marks, left over from joining files."""
    clean = {}
    for name, value in fields.items():
        if isinstance(value, str):
            value = value.replace(BYTE_ORDER_MARK, "")
        clean[name.replace(BYTE_ORDER_MARK, "")] = value
    return clean


def _records_of_table(
    table: Table, options: ImportOptions, report: Report, usual: Mapping[str, Sequence[str]]
) -> list[Record]:
    rows = [row for row in table.rows if not row.is_blank]
    names = [str(number) for number in range(table.width)]
    if is_header(rows[0].fields, [row.fields for row in rows[1:]], options, usual):
        names = [name or str(number) for number, name in enumerate(rows[0].fields)]
        rows = rows[1:]
    else:
        report.took("no header: columns are numbered from 0")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ConfigurationError(f"{table.file}, line 1: the column {repeated[0]!r} is repeated")
    records = []
    for row in rows:
        fields: dict[str, Any] = dict(zip(names, row.fields, strict=True))
        records.append(Record(table.file, row.place, fields))
    return records


def is_header(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    options: ImportOptions,
    usual: Mapping[str, Sequence[str]],
) -> bool:
    """
    Returns whether the first row of a table names its columns: by usual or chosen names, or since
    its value in the column of labels is no label of any other row.
    """
    names = {field.lower() for field in first}
    if any(names & {name.lower() for name in usual[role]} for role in usual):
        return True
    chosen = [name for name in options.columns.values() if not name.isdecimal()]
    if chosen and set(chosen) <= set(first):
        return True
    columns = [[row[number] for row in rest] for number in range(len(first))]
    labels = [number for number, column in enumerate(columns) if may_be_labels(column)]
    return bool(labels) and not any(first[number] in columns[number] for number in labels)


def may_be_labels(values: Sequence[Any]) -> bool:
    """Returns whether values are short, and fewer than the records."""
    texts = [str(value) for value in values if value not in (None, "", [])]
    if not texts or max(map(len, texts)) > _SHORT:
        return False
    return 2 * len(set(texts)) <= len(texts)


def find_fields(
    records: Sequence[Record],
    usual: Mapping[str, Sequence[str]],
    options: ImportOptions,
    report: Report,
) -> dict[str, str]:
    """
    Returns the field of each role: the chosen one, or one with a usual name, or else by its
    contents. Labels are short and repeated, texts are the longest.

    Raises `ConfigurationError`, naming file, place and option, if that does not decide it.
    """
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.fields.items():
            values.setdefault(name, []).append(value)
    first = records[0]
    found: dict[str, str] = {}
    for role, names in usual.items():
        chosen = options.columns.get(role)
        if chosen is not None and chosen not in values and chosen.isdecimal():
            chosen = dict(enumerate(values)).get(int(chosen), chosen)
        if chosen is not None and chosen not in values:
            raise _missing(first, role, repr(chosen), list(values))
        known = [field for name in names for field in values if field.lower() == name.lower()]
        known = [field for field in known if field not in found.values()]
        if chosen is not None:
            found[role] = chosen
        elif known:
            found[role] = known[0]
    for role in usual:
        if role not in found:
            rest = [name for name in values if name not in found.values()]
            found[role] = _by_content(first, role, {name: values[name] for name in rest})
    listed = ", ".join(f"{role} in {name!r}" for role, name in found.items())
    report.took(f"{listed}")
    _refuse_scores(first, found, values)
    return found


def _by_content(first: Record, role: str, values: Mapping[str, Sequence[Any]]) -> str:
    """Returns the one field that may have a role."""
    if role == LABEL:
        likely = [name for name, column in values.items() if may_be_labels(column)]
        if not likely:
            likely = [name for name, column in values.items() if _are_words(column)]
    else:
        likely = [name for name, column in values.items() if _may_be_texts(column)]
    if len(likely) != 1:
        expected = f"such as {role!r}"
        if likely:
            names = " and ".join(map(repr, likely))
            raise first.error(f"{names} may all be the {role}; --column {role}=NAME chooses one")
        raise _missing(first, role, expected, list(values))
    return likely[0]


def _are_words(values: Sequence[Any]) -> bool:
    """Returns whether all values are single words or numbers, as the labels of a few texts are."""
    texts = [str(value) for value in values if value not in (None, "", [])]
    return bool(texts) and all(text and " " not in text for text in texts)


def _may_be_texts(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and value]
    if not texts or may_be_labels(values):
        return False
    return 2 * sum(" " in text or not text.isascii() for text in texts) > len(texts)


def _missing(first: Record, role: str, expected: str, names: Sequence[str]) -> ConfigurationError:
    listed = ", ".join(map(repr, names))
    return first.error(f"expected a column or key {expected} (--column {role}=NAME), got {listed}")


def _refuse_scores(
    first: Record, found: Mapping[str, str], values: Mapping[str, Sequence[Any]]
) -> None:
    """Raises `ConfigurationError` if the labels are numbers with decimals."""
    field = found.get(LABEL)
    if field is None:
        return
    scores = [str(value) for value in values[field] if is_score(str(value))]
    if 2 * len(scores) > len(values[field]):
        raise first.error(
            f"{field!r} has scores, such as {scores[0]}, which are no classes; --column "
            f"{LABEL}=NAME chooses another column"
        )
