"""Lists and objects in the cells of a table: as JSON, or as Python or numpy print them."""

import ast
import io
import json
import tokenize
from typing import Any

_BEGINNINGS = ("[", "{")
_ITEMS = (tokenize.STRING, tokenize.NUMBER)  # the kinds of tokens that are items of a list


def value_in_cell(text: str) -> Any:
    """Returns the list or the object that a cell contains, or else its text."""
    if not text.startswith(_BEGINNINGS):
        return text
    try:
        return json.loads(text)
    except ValueError:
        pass  # not JSON, but it may be Python's or numpy's
    try:
        return _python_value(ast.parse(_with_commas(text), mode="eval").body)
    except (ValueError, SyntaxError, TypeError, tokenize.TokenError, RecursionError, MemoryError):
        return text


def list_in_cell(value: Any) -> Any:
    """Returns the list that a field contains as text; any other value is returned unchanged."""
    if not isinstance(value, str) or not value.startswith("["):
        return value
    return value_in_cell(value)


def _with_commas(text: str) -> str:
    """Returns a list that numpy printed, as `['a' 'b']`, with commas between its items."""
    pieces: list[str] = []
    last = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begins_item = token.type in _ITEMS or token.string == "-"  # of a negative number
        if begins_item and last in _ITEMS:
            pieces.append(",")
        if token.type not in (tokenize.NL, tokenize.NEWLINE):
            pieces.append(token.string)
            last = token.type
    return " ".join(pieces).strip()


def _python_value(node: ast.AST) -> Any:
    """
    Returns the value of an expression of literals, in which numpy's arrays become lists. Raises
    `ValueError` for anything else.
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
            if key is None:
                raise ValueError("an object is unpacked into another")
            content[_python_value(key)] = _python_value(value)
        return content
    return ast.literal_eval(node)
