"""Python's examples by which spaCy 2 was trained: `TRAIN_DATA = [("Text", {"entities": …}), …]`."""

import ast
import json
import re
from collections.abc import Iterator

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.json_records import Record, read_objects

_BEGINNING = re.compile(r"(?:\s|#.*\n)*(?:\w+ *= *)?\[\s*[(\[]\s*[\"']")


def is_python(text: str) -> bool:
    """Returns whether a text begins with a list of tuples or lists, each with a text in front."""
    return _BEGINNING.match(text) is not None


def read_examples(file: str, text: str) -> Iterator[Record]:
    """
    Yields the examples of a program whose first statement lists them. The program is parsed as data
    and not run. Raises `ConfigurationError`, naming the file, if its first statement is no such
    list, or if another list follows.
    """
    try:
        statements = ast.parse(text).body
        examples = ast.literal_eval(statements[0].value)  # type: ignore[attr-defined]
        as_json = json.dumps(examples)  # the examples have the form of spaCy's JSON
    except (
        SyntaxError,
        ValueError,
        AttributeError,  # the first statement has no value, as an import
        TypeError,  # JSON lacks sets and bytes
        RecursionError,
        MemoryError,
    ) as error:
        # `literal_eval` ends its message with an object of `ast`, shown by its memory address.
        reason, _, _ = str(error).partition(": <ast.")
        raise ConfigurationError(
            f'{file}: expected a list such as [("Ada left.", {{"entities": [(0, 3, "PER")]}})] '
            f"and nothing else, got other Python ({reason})"
        ) from None
    for statement in statements[1:]:
        if isinstance(getattr(statement, "value", None), ast.List):
            raise ConfigurationError(
                f"{file}, line {statement.lineno}: expected one list of examples, got a second "
                "one; write it to a file of its own"
            )
    yield from read_objects(file, as_json)
