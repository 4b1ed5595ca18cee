"""JSON, read strictly."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes

MAX_DEPTH = 200
"""
The most lists and objects of JSON within each other. Functions that go through the content call
themselves for each of them, and fail at a depth that depends on the version of Python.
"""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def parse_json(
    text: str | bytes, name: str, is_line: bool = False, allows_repeated_keys: bool = False
) -> Any:
    """
    Parses JSON. Raises `BiLmError`, with a message that begins with `name`, if the text is not
    JSON. Some things that Python's parser accepts are errors, too: more than `MAX_DEPTH` lists and
    objects within each other, `NaN` and `Infinity`, a number that is too large for a float, half of
    a surrogate pair, and a repeated key in an object. If `allows_repeated_keys` is true, the last
    value of such a key counts.

    If `is_line` is true, the text is one line of a file, and `name` includes its number. Otherwise
    messages say in which line of the text the parser stopped.
    """
    make_object: Callable[..., Any] | None = _object_of_unique_keys
    if allows_repeated_keys:
        make_object = None  # the parser makes its own dictionaries
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        content = json.loads(
            text,
            object_pairs_hook=make_object,
            parse_constant=_refuse_constant,
            **_PARSERS_OF_NUMBERS,
        )
    except RecursionError:
        raise _too_deep_error(name) from None
    except json.JSONDecodeError as error:
        wrong = f"not JSON ({error.msg} at column {error.colno})"
        if is_line:
            raise BiLmError(f"{name}: {wrong}; an object is one line") from None
        raise BiLmError(f"{name}, line {error.lineno}: {wrong}") from None
    except ValueError as error:  # the text is not UTF-8, or a function below refuses a value
        raise BiLmError(f"{name}: not JSON ({error})") from None
    # Most texts have so few brackets that their content need not be looked at.
    may_be_too_deep = text.count("[") + text.count("{") > MAX_DEPTH
    if may_be_too_deep and is_too_deep(content):
        raise _too_deep_error(name)
    # Two escapes may be a whole pair, as in `\ud83d\ude00`. The parser has joined such pairs, so a
    # half that is left in the content is a mistake.
    if _SURROGATE.search(text):
        check_characters(json.dumps(content, ensure_ascii=False), name)
    return content


def is_too_deep(content: Any) -> bool:
    """
    Returns whether more than `MAX_DEPTH` lists and objects are within each other. Goes from level
    to level, because a function that calls itself would fail.
    """
    level = []
    if isinstance(content, list | dict):
        level = [content]
    for _ in range(MAX_DEPTH):
        next_level: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                next_level.extend(value.values())
            else:
                next_level.extend(value)
        level = [value for value in next_level if isinstance(value, list | dict)]
        if not level:
            return False
    return True


def _too_deep_error(name: str) -> BiLmError:
    """Returns the error for a text in which too many lists and objects are within each other."""
    return BiLmError(
        f"{name}: not JSON that can be read (it is nested too deeply: at most {MAX_DEPTH} lists "
        "and objects may be within each other)"
    )


def check_characters(text: str, name: str) -> None:
    """Raises `BiLmError`, beginning with `name`, if the text has half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise BiLmError(f"{name}: half of a surrogate pair, {half!a}, is not a character") from None


def read_json(path: Any, name: str) -> Any:
    """
    Reads a JSON file. Raises `BiLmError`, beginning with `name`, if the file is missing or not
    JSON.
    """
    return parse_json(read_bytes(path, name), name)


def read_json_object(path: Any, name: str) -> dict[str, Any]:
    """Reads a JSON file that holds an object. Raises `BiLmError` as `read_json` does."""
    return as_object(read_json(path, name), name)


def as_object(content: Any, name: str) -> dict[str, Any]:
    """
    Returns an object of JSON. Raises `BiLmError`, beginning with `name`, if it is something else.
    """
    if not isinstance(content, dict):
        raise BiLmError(f"{name}: expected a JSON object, found {type(content).__name__}")
    return content


def is_list_of(values: Any, kind: type) -> bool:
    """Returns whether `values` is a list, perhaps empty, in which all values are of one kind."""
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _object_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON. Raises `ValueError` if it repeats a key."""
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key, count in counts.items() if count > 1)
        raise ValueError(f"the key {repeated!r} is repeated")
    return content


def _refuse_constant(constant: str) -> float:
    """Raises `ValueError` for `NaN` and `Infinity`: Python's parser would accept them."""
    raise ValueError(f"{constant} is not a number of JSON")


def _finite_number(kind: Callable[[str], float], digits: str) -> float:
    """Returns a number of JSON as `kind`. Raises `ValueError` if a float cannot hold it."""
    if not math.isfinite(float(digits)):
        raise ValueError(f"the number {digits[:20]}… is too large")
    return kind(digits)


_PARSERS_OF_NUMBERS: dict[str, Any] = {
    "parse_float": partial(_finite_number, float),
    "parse_int": partial(_finite_number, int),
}
