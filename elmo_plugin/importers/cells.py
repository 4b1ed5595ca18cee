"""Lists and objects in the cells of a table: as JSON, or as Python or numpy print them."""

import ast
import io
import json
import tokenize
from typing import Any

from elmo_plugin.common.formats.json_files import is_too_deep

_OPENING_BRACKETS = ("[", "{")
_ITEM_TOKENS = (tokenize.STRING, tokenize.NUMBER)  # the types of the tokens in a list
_LINE_BREAKS = (tokenize.NL, tokenize.NEWLINE)
# What `tokenize` and `ast` raise for a text that is not Python, or has too many brackets.
_ERRORS_OF_PYTHON = (
    ValueError,
    SyntaxError,
    TypeError,
    tokenize.TokenError,
    RecursionError,
    MemoryError,
)


def value_in_cell(text: str) -> Any:
    """Returns the list or the object that is written in a cell, or else the text of the cell."""
    if not text.startswith(_OPENING_BRACKETS):
        return text
    value = _parse(text)
    if is_too_deep(value):
        return text
    return value


def _parse(text: str) -> Any:
    """Returns the value of a cell that begins with a bracket, or its text if it is no value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # not JSON, but Python or numpy may have printed it
    try:
        expression = ast.parse(_with_commas(text), mode="eval")
        return _python_value(expression.body)
    except _ERRORS_OF_PYTHON:
        return text


def list_in_cell(value: Any) -> Any:
    """Returns the list that a field contains as text; any other value is returned unchanged."""
    if not isinstance(value, str) or not value.startswith("["):
        return value
    return value_in_cell(value)


def _with_commas(text: str) -> str:
    """
    Returns the text of a list with commas between its items, because numpy prints none, as in
    `['a' 'b']`.
    """
    pieces: list[str] = []
    last_type = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _LINE_BREAKS:
            continue  # numpy breaks long lists into lines
        begins_negative_number = token.string == "-"
        begins_item = token.type in _ITEM_TOKENS or begins_negative_number
        if begins_item and last_type in _ITEM_TOKENS:
            pieces.append(",")
        pieces.append(token.string)
        last_type = token.type
    return " ".join(pieces).strip()


def _python_value(node: ast.AST) -> Any:
    """
    Returns the value of an expression that consists of literals and of numpy's arrays, as
    `array(['a'])`, which become lists. Raises `ValueError` for any other expression.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "array":
        if not node.args:
            raise ValueError("an array without a value")
        return _python_value(node.args[0])
    if isinstance(node, ast.List):
        return [_python_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        content = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:  # as in `{**other}`
                raise ValueError("an object is unpacked into another")
            content[_python_value(key)] = _python_value(value)
        return content
    return ast.literal_eval(node)
