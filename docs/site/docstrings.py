"""Shows docstrings in AllenNLP's style, in which indented text describes the line above it."""

import re
from typing import Any

from griffe import Extension, Object

ENTRY = re.compile(r"^(\S.*)\n((?: {4,}\S.*(?:\n|$))+)", re.MULTILINE)


class AllenNlpDocstrings(Extension):
    """Turns `name : type` with an indented description into a list of definitions."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_definitions(obj.docstring.value)


def as_definitions(text: str) -> str:
    """Returns the Markdown of a docstring with each entry as a definition."""
    return ENTRY.sub(lambda match: f"{match[1]}\n\n:   {match[2].lstrip()}\n", text)
