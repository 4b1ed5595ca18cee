"""The objects of a JSON file: one in each line, or in one list, or a column in each key."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json

_BEGINNING = re.compile(r'\s*(\{\s*("|$)|\[\s*(["\[{]|\]?\s*$))')  # not "[ O", a word and its tag
_KEYS_OF_RECORDS = ("common_examples", "data", "examples", "rows")
"""Keys under which the only object of a file may have its list of records."""


class Record(NamedTuple):
    """An object of a file, or a row of a table, and its place there."""

    file: str
    place: str
    fields: dict[str, Any]

    def error(self, message: str) -> ConfigurationError:
        """Returns an error that begins with file and place."""
        return ConfigurationError(f"{self.file}, {self.place}: {message}")


def is_json(text: str) -> bool:
    """Returns whether a text begins as JSON does: with an object, or a list of objects."""
    return _BEGINNING.match(text.lstrip()) is not None


def read_objects(file: str, text: str) -> Iterator[Record]:
    """
    Yields the objects of a text of JSON. In spaCy 2, an example is a list of a text and its
    annotations, and becomes an object here. Raises `ConfigurationError`, naming file and line, if
    the text is not JSON, or has something other than objects.
    """
    for place, value in _values(file, text):
        if _is_example_of_spacy(value):
            text_of_example, annotations = value
            value = {"text": text_of_example} | annotations
        if not isinstance(value, dict):
            raise ConfigurationError(f"{file}, {place}: expected a JSON object, got {value!r:.60}")
        yield Record(file, place, value)


def _is_example_of_spacy(value: Any) -> bool:
    """Returns whether a value is a text and its annotations, as spaCy 2 was trained with."""
    return isinstance(value, list) and [type(part) for part in value] == [str, dict]


def _values(file: str, text: str) -> Iterator[tuple[str, Any]]:
    """
    Yields the records of a text, each with its place. In JSON lines, each line is a record.
    Otherwise, the whole text is one value that may contain several.
    """
    if not _is_json_lines(text):
        yield from _values_in_one(_parse(text, file))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"line {number}"
            yield place, _parse(line, f"{file}, {place}", is_line=True)


def _is_json_lines(text: str) -> bool:
    """Returns whether lines seem to be values of JSON: the first line is one, and others follow."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        # It may be a malformed object, and an error can then name the line.
        return first.rstrip().endswith("}")
    except RecursionError:
        return True  # an error names the line that is nested too deeply
    return True


def _parse(text: str, place: str, is_line: bool = False) -> Any:
    """Parses JSON. Raises `ConfigurationError`, naming the place, if it is malformed."""
    try:
        return parse_json(text, place, is_line=is_line, allows_repeated_keys=True)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None


def _values_in_one(content: Any) -> Iterator[tuple[str, Any]]:
    """
    Yields the records in the only value of a file, with their places. They are the items of a list,
    or the rows of a table of pandas, or the value is the only record. The list or the table may be
    inside of objects, under keys such as `data`.
    """
    while isinstance(content, dict):
        key = _key_of_records(content)
        if key is None:
            break
        content = content[key]
    if isinstance(content, dict) and _is_table_of_pandas(content):
        content = _rows_of_columns(content)
    if isinstance(content, dict) or _is_example_of_spacy(content):
        yield "line 1", content
        return
    for number, item in enumerate(content, start=1):
        # The viewer of Hugging Face puts the fields of a record under this key.
        if isinstance(item, dict) and isinstance(item.get("row"), dict):
            item = item["row"]
        yield f"item {number}", item


def _key_of_records(content: dict[str, Any]) -> str | None:
    """
    Returns the key under which an object has the records, or a further object with them. Returns
    `None` if the object is a record itself.
    """
    if isinstance(content.get("rasa_nlu_data"), dict):
        return "rasa_nlu_data"
    keys = list(_KEYS_OF_RECORDS)
    # Only the files of NER Annotator have these two keys. In others, a record has annotations.
    if "classes" in content:
        keys.append("annotations")
    for key in keys:
        if isinstance(content.get(key), list):
            return key
    return None


def _is_table_of_pandas(content: dict[str, Any]) -> bool:
    """
    Returns whether an object is a table of pandas. It has an object for each column, and the keys
    of all these objects are the same numbers of rows.
    """
    columns = list(content.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return False
    keys = columns[0].keys()
    are_row_numbers = all(key.isdecimal() for key in keys)
    return are_row_numbers and all(column.keys() == keys for column in columns)


def _rows_of_columns(content: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of a table of pandas that has an object for each column."""
    first_column = next(iter(content.values()))
    rows = []
    for key in first_column:  # the same keys as in the other columns
        rows.append({name: column[key] for name, column in content.items()})
    return rows
