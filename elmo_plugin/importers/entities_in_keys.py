"""Tags of entities under a key within a column, such as `Gloss=x|name=B-PER` in CoNLL-U."""

from collections.abc import Mapping, Sequence

from elmo_plugin.importers.row_comments import Rows
from elmo_plugin.tasks.ner.tags import parse_tags

_NO_KEYS = ("_", "")  # fields without any key


def add_columns_of_keys(names: Sequence[str], rows: Rows) -> tuple[list[str], Rows]:
    """
    Adds a column for each key whose values are tags of entities, such as `name` in
    `Gloss=x|name=B-PER`. A row without the key gets an O. Returns the names of the columns, if the
    file has any, and the rows.
    """
    names = list(names)
    width = max((len(row.fields) for row in rows if row is not None), default=0)
    for column in range(width):
        fields = {row.fields[column] for row in rows if row is not None}
        has_only_keys = all("=" in field or field in _NO_KEYS for field in fields)
        if not has_only_keys:
            continue
        values_by_field = {field: _values_by_key(field) for field in fields}
        for key in _keys_of_entities(list(values_by_field.values())):
            tags = {field: values.get(key, "O") for field, values in values_by_field.items()}
            rows = _with_column(rows, column, tags)
            if names:
                names.append(key)
    return names, rows


def _values_by_key(field: str) -> dict[str, str]:
    """Returns the values in a field such as `Gloss=x|name=B-PER` by their keys."""
    values = {}
    for pair in field.split("|"):
        key, separator, value = pair.partition("=")
        if separator:
            values[key] = value
    return values


def _keys_of_entities(fields: Sequence[Mapping[str, str]]) -> list[str]:
    """
    Returns the keys whose values are all tags of entities, some of them with a type. Each of the
    `fields` has values by their keys.
    """
    all_values: dict[str, set[str]] = {}  # of each key, in all fields
    for values in fields:
        for key, value in values.items():
            all_values.setdefault(key, set()).add(value)
    keys = []
    for key in sorted(all_values):
        tags = parse_tags(all_values[key])
        if tags is not None and any(tag.kind for tag in tags.values()):
            keys.append(key)
    return keys


def _with_column(rows: Rows, column: int, tags: Mapping[str, str]) -> Rows:
    """Appends a tag to each row: the one that `tags` has for the field of the row in `column`."""
    longer: Rows = []
    for row in rows:
        if row is None:
            longer.append(None)
        else:
            tag = tags[row.fields[column]]
            longer.append(row._replace(fields=(*row.fields, tag)))
    return longer
