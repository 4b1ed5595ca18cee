"""A configuration that is being ported: where its parts are, and notes on what changed."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

Config = dict[str, Any]
# Old names and new ones, and the defaults that changed, each with its source in the archive of that
# version.
TABLES: Config
TABLES, DEFAULTS = (
    json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
    for name in ("tables", "defaults")
)


class Note(NamedTuple):
    """
    place: the keys, with dots between them
    text: what changed, or cannot be
    kind: "changed" (AllenNLP 2 does not take the old form), "advice" or "left" (to be done by hand)
    """

    place: str
    text: str
    kind: str

    def __str__(self) -> str:
        return f"{'to be done: ' if self.kind == 'left' else ''}{self.place}: {self.text}"


class Porting:
    """A copy of a configuration that rules change in place, and their notes."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.old, self.config = config, deepcopy(dict(config))
        self.notes: list[Note] = []

    @property
    def version(self) -> str:
        """The first number of the AllenNLP that the configuration was written for: "0" or "1"."""
        return "0" if "iterator" in self.old else "1"

    def note(self, place: str, text: str, kind: str = "changed") -> None:
        self.notes.append(Note(place.lstrip("."), text, kind))

    def objects(self, below: str = "") -> list[tuple[str, Config]]:
        """Returns the place of each object below a top-level key, or of all, and the object."""
        return list(_objects({below: self.config.get(below)} if below else self.config, ""))

    def get(self, key: str) -> Config:
        """Returns the object at a top-level key, or an empty one."""
        value = self.config.get(key)
        return value if isinstance(value, dict) else {}


def _objects(value: Any, path: str) -> Iterator[tuple[str, Config]]:
    if path and isinstance(value, dict):
        yield path, value
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    )
    for key, item in list(items):
        yield from _objects(item, f"{path}.{key}".lstrip("."))


def replace(config: Config, key: str, new: Config) -> None:
    """Puts `new` in the place of a key, and merges it with other keys of the same names."""
    items = list(config.items())
    config.clear()
    for name, value in items:
        for each, content in new.items() if name == key else [(name, value)]:
            merge(config, each, content)


def merge(config: Config, key: str, value: Any) -> None:
    """Sets a key; adds to an object or a list that is already there."""
    there = config.get(key)
    if isinstance(there, dict) and isinstance(value, dict):
        for name, content in value.items():
            merge(there, name, content)
    elif isinstance(there, list) and isinstance(value, list):
        for item in value:
            same_type = [each for each in there if type_of(each) and type_of(each) == type_of(item)]
            merge({"": same_type[0]}, "", item) if same_type else there.append(item)
    else:
        config[key] = value


def type_of(value: Any) -> str:
    """
    Returns the type of an object, or of the object that a text is short for; or an empty text.
    """
    kind = value.get("type") if isinstance(value, dict) else value
    return kind if isinstance(kind, str) else ""
