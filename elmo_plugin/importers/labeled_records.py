"""Records of texts with a label, from files of any form."""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.not_sentences import BETWEEN_TABS, kind_of_data
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.importers.aspects import is_aspects, records_of_aspects
from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.fasttext import is_fasttext, records_of_fasttext
from elmo_plugin.importers.field_finder import LABEL
from elmo_plugin.importers.json_records import Record, is_json, read_objects
from elmo_plugin.importers.label_folders import records_of_folder
from elmo_plugin.importers.label_studio import is_label_studio, records_of_choices
from elmo_plugin.importers.leading_labels import has_leading_labels, records_of_leading_labels
from elmo_plugin.importers.nested_fields import flat_fields, rows_in_object
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.parallel_labels import labels_beside, records_of_two_files
from elmo_plugin.importers.python_examples import is_python, read_examples
from elmo_plugin.importers.rejected import is_rejected
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.table_header import is_header
from elmo_plugin.importers.tables import (
    Row,
    Table,
    is_binary_table,
    read_table,
    read_text_table,
)
from elmo_plugin.importers.text import read_text

_EXPECTED = "expected texts and labels, as a table, JSON lines, or a folder for each label"
_NO_TABLES = (
    "XML or HTML",
    "subtitles",
    "brat's annotations",
    "a table of Markdown",
    f"{BETWEEN_TABS}, CoNLL-U",
)
_FIRST_LINES = 20


def read_records(
    file: str, options: ImportOptions, report: Report, usual_names: Mapping[str, Sequence[str]]
) -> list[Record]:
    """
    Returns the records of a file or folder, without records that an annotator rejected. Each role,
    such as `label`, has `usual_names` of its column: a first row with one of them is a header.
    """
    if os.path.isdir(file):
        return list(records_of_folder(file, options, report))
    if is_binary_table(file):
        table = read_table(file, options, report)
        return _records_of_table(table, options, report, usual_names)
    text = read_text(file, options, report)
    return records_in_text(file, text, options, report, usual_names)


def records_in_text(
    file: str,
    text: str,
    options: ImportOptions,
    report: Report,
    usual_names: Mapping[str, Sequence[str]],
) -> list[Record]:
    """
    Returns the records in the `text` of a file, whatever form it has. If another file beside this
    one has the labels, the records come from both.
    """
    labels_file = labels_beside(file)
    if labels_file is not None:
        return list(records_of_two_files(file, labels_file, options, report))
    if is_json(text):
        return _records_of_objects(list(read_objects(file, text)), report)
    if is_python(text):
        return _records_of_objects(list(read_examples(file, text)), report)
    if is_fasttext(text):
        report.took("fastText's lines")
        return list(records_of_fasttext(file, text))
    if is_aspects(text):
        report.took("three lines for each aspect")
        return list(records_of_aspects(file, text))
    if options.separator is None and has_leading_labels(text):
        report.took("a label and its text in each line, with a space between them")
        return list(records_of_leading_labels(file, text))
    _refuse_other_data(file, text)
    table = read_text_table(file, text, options, report)
    if table.width < 2:  # a text needs a label beside it
        first = next(row for row in table.rows if not row.is_blank)
        raise ConfigurationError(
            f"{file}, {first.place}: {_EXPECTED}, got {first.fields[0]!r:.60}; --separator names "
            "what separates columns"
        )
    return _records_of_table(table, options, report, usual_names)


def _refuse_other_data(file: str, text: str) -> None:
    """Raises `ConfigurationError` for a text that is plainly no table."""
    kind = kind_of_data(text.split("\n", _FIRST_LINES)[:_FIRST_LINES])
    if kind in _NO_TABLES:
        raise ConfigurationError(f"{file}, line 1: {_EXPECTED}, got {kind}")


def _records_of_objects(records: Sequence[Record], report: Report) -> list[Record]:
    """
    Returns the records of JSON, without records that an annotator rejected. An object within a
    record becomes fields of the record: the `text` of its `example` is called `example.text`.
    """
    if len(records) == 1:  # the file may be one object that has the rows of a table
        records = rows_in_object(records[0], report)
    accepted = _without_rejected(records, report)
    if accepted and all(is_label_studio(record.fields) for record in accepted):
        report.took("tasks of Label Studio")
        accepted = records_of_choices(accepted, LABEL)
    return [
        record._replace(fields=_without_byte_order_marks(flat_fields(record.fields)))
        for record in accepted
    ]


def _without_rejected(records: Sequence[Record], report: Report) -> list[Record]:
    """Returns the records that no annotator rejected. The report lists the others."""
    accepted = []
    for record in records:
        if is_rejected(record.fields):
            report.leave_out("that an annotator rejected", record.place)
        else:
            accepted.append(record)
    return accepted


def _without_byte_order_marks(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields without the byte order marks that are left over where files were joined."""
    clean = {}
    for name, value in fields.items():
        if isinstance(value, str):
            value = value.replace(BYTE_ORDER_MARK, "")
        clean[name.replace(BYTE_ORDER_MARK, "")] = value
    return clean


def _records_of_table(
    table: Table, options: ImportOptions, report: Report, usual_names: Mapping[str, Sequence[str]]
) -> list[Record]:
    """
    Returns a record for each row of a table. Its fields are called as the header says, or by the
    numbers of the columns if the table begins with a row of data.
    """
    rows = _without_title([row for row in table.rows if not row.is_blank], report)
    names = [str(number) for number in range(table.width)]
    rest = [row.fields for row in rows[1:]]
    usual = list(chain.from_iterable(usual_names.values()))
    if is_header(rows[0].fields, rest, options.columns.values(), usual):
        names = _names_in_header(table.file, rows[0])
        rows = rows[1:]
    else:
        report.took("no header: columns are numbered from 0")
    columns: dict[str, Sequence[Any]] = {}
    for column_number, name in enumerate(names):
        cells = [row.fields[column_number] for row in rows]
        columns[name] = _values_of_column(cells)
    records = []
    for row_number, row in enumerate(rows):
        fields = {name: values[row_number] for name, values in columns.items()}
        records.append(Record(table.file, row.place, flat_fields(fields)))
    return records


def _without_title(rows: Sequence[Row], report: Report) -> Sequence[Row]:
    """Leaves out the rows above the first one that has several fields, such as a title."""
    for number, row in enumerate(rows):
        filled = [field for field in row.fields if field]
        if len(filled) > 1:
            if number > 0:
                report.took(f"the table begins in {row.place}: above it, rows have one field each")
            return rows[number:]
    return rows


def _names_in_header(file: str, header: Row) -> list[str]:
    """Returns the names of the columns: a column without a name has its number, from 0."""
    names = []
    for number, name in enumerate(header.fields):
        name = name or str(number)
        if name in names:
            raise ConfigurationError(f"{file}, {header.place}: the column {name!r} is repeated")
        names.append(name)
    return names


def _values_of_column(cells: Sequence[str]) -> Sequence[Any]:
    """
    Returns the list or the object that each cell of a column contains. If a cell is another text,
    all are returned as they are: brackets at the beginning of a text are then part of it.
    """
    values = [value_in_cell(cell) for cell in cells]
    filled = [value for value in values if value != ""]
    if filled and all(isinstance(value, list | dict) for value in filled):
        return values
    return cells
