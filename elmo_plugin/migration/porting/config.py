"""A configuration that is being ported: where its parts are, and notes on what changed."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

Config = dict[str, Any]


def _read_table(name: str) -> Any:
    """Reads a file of JSON in this folder."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


TABLES: Config = _read_table("tables.json")
"""Old names of AllenNLP, and the new ones."""

DEFAULTS: list[Config] = _read_table("defaults.json")
"""The defaults that changed, each with the file of AllenNLP's source that says so."""


class Note(NamedTuple):
    """
    A message of a rule about a place in a configuration.

    place: the keys, with dots between them
    text: what changed, or cannot be
    kind: "changed" (AllenNLP 2 does not take the old form), "advice" or "left" (to be done by hand)
    """

    place: str
    text: str
    kind: str

    def __str__(self) -> str:
        sentence = f"{self.place}: {self.text}"
        if self.kind == "left":
            return f"to be done: {sentence}"
        return sentence


class Porting:
    """A copy of a configuration that rules change in place, and their notes."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.old = config
        self.config = deepcopy(dict(config))
        self.notes: list[Note] = []

    @property
    def version(self) -> str:
        """The first number of the AllenNLP that the configuration was written for: "0" or "1"."""
        if "iterator" in self.old:  # version 1 has `data_loader` instead
            return "0"
        return "1"

    def note(self, place: str, text: str, kind: str = "changed") -> None:
        """Adds a note; see `Note` for the kinds. A place may begin with a dot, as in `.trainer`."""
        self.notes.append(Note(place.lstrip("."), text, kind))

    def objects(self, below: str = "") -> list[tuple[str, Config]]:
        """
        Returns each object of the configuration with its place, or only those below a top-level
        key. It is a complete list, because rules change the configuration while they go through it.
        """
        if not below:
            return list(_objects(self.config, ""))
        return list(_objects(self.config.get(below), below))

    def get(self, key: str) -> Config:
        """Returns the object at a top-level key, or a new empty one."""
        value = self.config.get(key)
        if not isinstance(value, dict):
            return {}
        return value


def _objects(value: Any, path: str) -> Iterator[tuple[str, Config]]:
    """
    Yields the objects within a value, each with its place, and the value itself if it is an object.
    The whole configuration, whose path is empty, is left out.
    """
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        if path:
            yield path, value
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, item in items:
        yield from _objects(item, f"{path}.{key}".lstrip("."))


def nested(key: str, value: Any) -> Config:
    """Returns an object with a value at a key; `a.b` stands for the key `b` of an object `a`."""
    outer, _, inner = key.partition(".")
    if not inner:
        return {outer: value}
    return {outer: {inner: value}}


def replace(config: Config, key: str, new: Config) -> None:
    """Puts the items of `new` where a key was, merged with items that are there already."""
    # Everything is inserted a second time, because a dictionary keeps the order of insertion.
    items = list(config.items())
    config.clear()
    for name, value in items:
        if name == key:
            _merge_items(config, new)
        else:
            merge(config, name, value)


def merge(config: Config, key: str, value: Any) -> None:
    """Sets a key, or adds the value to the object or the list that is already there."""
    there = config.get(key)
    if isinstance(there, dict) and isinstance(value, dict):
        _merge_items(there, value)
    elif isinstance(there, list) and isinstance(value, list):
        for item in value:
            _add_to_list(there, item)
    else:
        config[key] = value


def _merge_items(config: Config, new: Config) -> None:
    """Merges each item of another object into the configuration."""
    for key, value in new.items():
        merge(config, key, value)


def _add_to_list(items: list[Any], new: Any) -> None:
    """Adds an item to a list, or its options to the item of the same type that is in the list."""
    new_type = type_of(new)
    for index, item in enumerate(items):
        if new_type and type_of(item) == new_type:
            if isinstance(item, str):
                items[index] = new  # with its options, where there was the name alone
            elif isinstance(new, dict):
                _merge_items(item, new)
            return  # a name alone adds nothing to the item
    items.append(new)


def type_of(value: Any) -> str:
    """
    Returns the type of an object, or of the object that a text is short for; or an empty text.
    """
    if isinstance(value, dict):
        value = value.get("type")
    if not isinstance(value, str):
        return ""
    return value


def without_type(options: Config) -> Config:
    """Returns the options of an object, but not its type."""
    return {key: value for key, value in options.items() if key != "type"}
