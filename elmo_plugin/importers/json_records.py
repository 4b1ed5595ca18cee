"""The objects of a JSON file: one in each line, or in one list, or a column in each key."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json

_BEGINNING = re.compile(r'\s*(\{\s*("|$)|\[\s*(["\[{]|\]?\s*$))')  # not "[ O", a word and its tag
_LISTS = ("common_examples", "data", "examples", "rows")
"""Keys of the list of records in the only object of a file."""


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
    Yields the objects of a text of JSON. An example of spaCy 2, a text and its annotations in a
    list, becomes an object. Raises `ConfigurationError`, naming file and line, if the text is not
    JSON, or has something other than objects.
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
    Yields the place and the value of each line if lines are JSON of their own, or else of each
    record in the whole text.
    """
    if not _is_lines(text):
        yield from _values_of_one(_parse(text, file))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"line {number}"
            yield place, _parse(line, f"{file}, {place}", is_line=True)


def _is_lines(text: str) -> bool:
    """Returns whether the first line is JSON of its own and another follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        return first.rstrip().endswith("}")  # a malformed object, which an error will name
    return True


def _parse(text: str, place: str, is_line: bool = False) -> Any:
    """Parses JSON. Raises `ConfigurationError`, naming the place, if it is malformed."""
    try:
        return parse_json(text, place, is_line=is_line, repeated_keys=True)
    except BiLmError as error:
        raise ConfigurationError(str(error)) from None


def _values_of_one(content: Any) -> Iterator[tuple[str, Any]]:
    """
    Yields the records in the only value of a file, with their places: the items of a list, perhaps
    under keys such as `data`, the rows of a table of pandas, or the value itself.
    """
    while isinstance(content, dict):
        key = _key_of_list(content)
        if key is None:
            break
        content = content[key]
    if isinstance(content, dict) and _has_columns(content):
        content = _rows_of_columns(content)
    if isinstance(content, dict) or _is_example_of_spacy(content):
        yield "line 1", content
        return
    for number, item in enumerate(content, start=1):
        if isinstance(item, dict) and isinstance(item.get("row"), dict):  # of Hugging Face's viewer
            item = item["row"]
        yield f"item {number}", item


def _key_of_list(content: dict[str, Any]) -> str | None:
    """Returns the key under which an object has the records, or `None` if it is a record."""
    if isinstance(content.get("rasa_nlu_data"), dict):
        return "rasa_nlu_data"
    names = list(_LISTS)
    if "classes" in content:  # of NER Annotator
        names.append("annotations")
    for name in names:
        if isinstance(content.get(name), list):
            return name
    return None


def _has_columns(content: dict[str, Any]) -> bool:
    """
    Returns whether an object is a table of pandas: it has an object for each column, and these
    have the same numbers of rows as keys.
    """
    columns = list(content.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return False
    first = columns[0].keys()
    has_numbers = all(key.isdecimal() for key in first)
    return has_numbers and all(column.keys() == first for column in columns)


def _rows_of_columns(content: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of a table of pandas that has an object for each column."""
    first_column = next(iter(content.values()))
    rows = []
    for key in first_column:  # the same keys as in the other columns
        rows.append({name: column[key] for name, column in content.items()})
    return rows
