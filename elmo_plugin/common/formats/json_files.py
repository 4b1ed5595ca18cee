"""JSON, read strictly."""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import read_bytes

_MAX_DIGITS = 400  # of a number; the largest float64 has 309
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def parse_json(text: str | bytes, name: str, is_line: bool = False, repeated_keys: bool = False) -> Any:
    """
    Parses JSON text.

    # Parameters

    text : `str | bytes`
        UTF-8 where it is bytes.
    name : `str`
        The start of error messages: a file, or a file and a line.
    is_line : `bool`
        Whether the text is a single line, which `name` states.
    repeated_keys : `bool`
        Whether an object may repeat a key; the last value counts.

    Raises `BiLmError` if the text is not JSON, is nested too deeply, has a number that is NaN, infinite or
    too large, or has half of a surrogate pair, which UTF-8 cannot encode.
    """
    pairs: Callable[..., Any] | None = None if repeated_keys else _unique
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        content = json.loads(
            text, object_pairs_hook=pairs, parse_constant=_no_number, parse_float=_float, parse_int=_int
        )
    except RecursionError:
        raise BiLmError(f"{name}: not JSON that can be read (it is nested too deeply)") from None
    except json.JSONDecodeError as error:
        where = name if is_line else f"{name}, line {error.lineno}"
        raise BiLmError(f"{where}: not JSON ({error.msg} at column {error.colno})") from None
    except ValueError as error:  # those of UTF-8, and of the functions below
        raise BiLmError(f"{name}: not JSON ({error})") from None
    if _SURROGATE.search(text):
        for string in _strings(content):
            check_characters(string, name)
    return content


def check_characters(text: str, name: str) -> None:
    """Raises `BiLmError`, beginning with `name`, if the text has half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        message = f"{name}: {text[:40]!a} has half of a surrogate pair, which is not a character"
        raise BiLmError(message) from None


def read_json(path: str | Path, name: str) -> Any:
    """Reads a JSON file. Raises `BiLmError`, which calls the file `name`, if it is missing or not JSON."""
    return parse_json(read_bytes(path, name), name)


def read_json_object(path: str | Path, name: str) -> dict[str, Any]:
    """Reads a JSON file that holds an object; raises `BiLmError` as `read_json` does."""
    content = read_json(path, name)
    if not isinstance(content, dict):
        raise BiLmError(f"{name}: expected a JSON object, found {type(content).__name__}")
    return content


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is repeated")
    return content


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"the number {digits[:20]}… is too large: it has {len(digits):,} digits")
    return int(digits)


def _strings(content: Any) -> Iterator[str]:
    """Yields all strings of parsed JSON, including keys."""
    rest = [content]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            rest += one.keys()
            rest += one.values()
        elif isinstance(one, list):
            rest += one
