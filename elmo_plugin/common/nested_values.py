"""A walk through the values of a configuration, or of any other content of JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

Keys = tuple[str | int, ...]
"""The keys of objects and the positions in lists that lead to a value."""


def values_in(content: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """
    Yields the content, and then each value in it, at any depth, with the keys that lead there.
    `keys` lead to the content. An object or a list is yielded as a whole before the values in it.
    """
    yield keys, content
    if isinstance(content, list):
        content = dict(enumerate(content))  # the place in a list is a key
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from values_in(value, (*keys, key))
