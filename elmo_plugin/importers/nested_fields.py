"""The fields of objects within objects, under names such as `annotation.label`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.report import Report

_KEYS_OF_PLACES = {"start", "end", "start_offset", "end_offset", "begin", "offset"}
"""Keys of objects that mark a part of a text: their labels are not the text's."""
_ONLY_CHOICES = {"choices"}
"""The keys of an object that Label Studio writes for several choices."""


def flat_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """
    Returns fields without objects in them. The field `label` of the object `annotation` becomes
    `annotation.label`. If there is a list of such objects, this becomes the list of their labels.
    Categories with numbers or truth values, such as spaCy's `cats`, stay an object.
    """
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        flat.update(_flat_values(name, value))
    return flat


def _flat_values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the fields that the field `name` becomes: the full name and the value of each."""
    is_object = isinstance(value, Mapping)
    if is_object and value.keys() == _ONLY_CHOICES:
        yield name, value["choices"]  # the object says nothing else
    elif is_object and _are_categories(value):
        yield name, value  # the importer of texts reads it whole: the keys are labels
    elif is_object:
        for key, inner_value in value.items():
            yield from _flat_values(f"{name}.{key}", inner_value)
    elif not value or not is_list_of(value, dict) or _mark_parts_of_text(value):
        yield name, value  # a plain value, or a list of entities: none has a label of the text
    else:
        for key in _keys(value):
            yield f"{name}.{key}", [item[key] for item in value if key in item]


def _are_categories(value: Mapping[str, Any]) -> bool:
    """Returns whether an object has a number or a truth value for each category."""
    return bool(value) and all(isinstance(part, int | float) for part in value.values())


def _mark_parts_of_text(items: Sequence[Mapping[str, Any]]) -> bool:
    """Returns whether one of several objects marks a part of a text, such as an entity."""
    return any(not _KEYS_OF_PLACES.isdisjoint(item) for item in items)


def _keys(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the keys of all objects, each once, in their order."""
    keys: dict[str, None] = {}
    for item in items:
        keys.update(dict.fromkeys(item))
    return list(keys)


def rows_in_object(record: Record, report: Report) -> list[Record]:
    """
    Returns the rows of a table that the only object of a file holds: a list for each column, or an
    object for each row. If it is no table, the object itself is the only record.
    """
    if _has_columns(record.fields):
        report.took("a list for each column")
        rows = list(_rows_of_columns(record.fields))
    elif _has_rows(record.fields):
        report.took("an object for each record, by its name")
        rows = list(record.fields.values())
    else:
        return [record]
    return [Record(record.file, f"item {number}", row) for number, row in enumerate(rows, start=1)]


def _has_columns(fields: Mapping[str, Any]) -> bool:
    """Returns whether fields are the columns of a table: lists of the same length, not empty."""
    columns = list(fields.values())
    if len(columns) < 2 or not all(isinstance(column, list) for column in columns):
        return False
    lengths = {len(column) for column in columns}
    return len(lengths) == 1 and 0 not in lengths


def _has_rows(fields: Mapping[str, Any]) -> bool:
    """Returns whether fields are the rows of a table: objects with the same keys."""
    rows = list(fields.values())
    if len(rows) < 2 or not all(isinstance(row, dict) and row for row in rows):
        return False
    return all(row.keys() == rows[0].keys() for row in rows)


def _rows_of_columns(fields: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yields the fields of each row of a table that has a list for each column."""
    for values in zip(*fields.values(), strict=True):
        yield dict(zip(fields, values, strict=True))
