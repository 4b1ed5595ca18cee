"""Tags of entities under a key within a column, such as `Gloss=x|name=B-PER` in CoNLL-U."""

from collections.abc import Mapping, Sequence

from elmo_plugin.importers.row_comments import Rows
from elmo_plugin.tasks.ner.tags import parse_tags


def add_columns_of_keys(names: Sequence[str], rows: Rows) -> tuple[list[str], Rows]:
    """
    Returns the names of columns, and rows with a further column for each key that has tags of
    entities. A row without the key gets an O.
    """
    names = list(names)
    width = max((len(row.fields) for row in rows if row is not None), default=0)
    for column in range(width):
        values = {row.fields[column] for row in rows if row is not None}
        if not all("=" in value or value in ("_", "") for value in values):
            continue  # the column has other values than keys
        pairs = {value: _keys_and_values(value) for value in values}
        for key in _keys_of_entities(list(pairs.values())):
            tags = {value: found.get(key, "O") for value, found in pairs.items()}
            rows = _with_column(rows, column, tags)
            if names:
                names.append(key)
    return names, rows


def _keys_and_values(text: str) -> dict[str, str]:
    """Returns the values in a field such as `Gloss=x|name=B-PER` by their keys."""
    found = {}
    for pair in text.split("|"):
        key, separator, value = pair.partition("=")
        if separator:
            found[key] = value
    return found


def _keys_of_entities(pairs: Sequence[Mapping[str, str]]) -> list[str]:
    """Returns the keys whose values are all tags of entities, some of them with a type."""
    values: dict[str, set[str]] = {}
    for found in pairs:
        for key, value in found.items():
            values.setdefault(key, set()).add(value)
    keys = []
    for key in sorted(values):
        tags = parse_tags(values[key])
        if tags is not None and any(tag.kind for tag in tags.values()):
            keys.append(key)
    return keys


def _with_column(rows: Rows, column: int, tags: Mapping[str, str]) -> Rows:
    """Appends to each row the tag that belongs to its field in a column."""
    longer: Rows = []
    for row in rows:
        if row is None:
            longer.append(None)
        else:
            tag = tags[row.fields[column]]
            longer.append(row._replace(fields=(*row.fields, tag)))
    return longer
