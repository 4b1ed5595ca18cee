"""A configuration that is being ported: where its parts are, and notes on what changed."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

Config = dict[str, Any]


def read_table(name: str) -> Any:
    """Reads a file of JSON in this folder."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


TABLES: Config = read_table("tables.json")
"""Old names of AllenNLP, and the new ones."""


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
        self.old = dict(config)
        self.config = deepcopy(self.old)
        self.notes: list[Note] = []

    @property
    def version(self) -> str:
        """
        "0" if the configuration was written for AllenNLP 0.x, and "1" otherwise: the rules for
        AllenNLP 1.x change nothing in a configuration of AllenNLP 2.
        """
        if "iterator" in self.old:  # later versions have `data_loader` instead
            return "0"
        return "1"

    def note(self, place: str, text: str, *, kind: str = "changed") -> None:
        """Adds a note; see `Note` for the kinds. A place may begin with a dot, as in `.trainer`."""
        self.notes.append(Note(place.lstrip("."), text, kind))

    def objects(self, below: str = "") -> list[tuple[str, Config]]:
        """Returns the objects of the ported configuration, see `objects_in`."""
        return objects_in(self.config, below)

    def get(self, key: str) -> Config:
        """Returns the object at a top-level key, or a new empty one."""
        value = self.config.get(key)
        if not isinstance(value, dict):
            return {}
        return value


def objects_in(config: Config, below: str = "") -> list[tuple[str, Config]]:
    """
    Returns each object of a configuration with its place, or only those below a top-level key. It
    is a complete list, because rules change the configuration while they go through it.
    """
    if not below:
        return list(_objects(config, ""))
    return list(_objects(config.get(below), below))


def token_indexers_in(config: Config) -> dict[str, Config]:
    """Returns the token indexers of each dataset reader, by their names, with the place as key."""
    return {place: part for place, part in objects_in(config) if place.endswith("token_indexers")}


def _objects(value: Any, path: str) -> Iterator[tuple[str, Config]]:
    """
    Yields the value at a path if it is an object, and all objects within it, each with its path.
    The path of the whole configuration is empty, and the whole configuration is left out.
    """
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        if path:
            yield path, value
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, item in items:
        item_path = f"{path}.{key}"
        if not path:
            item_path = key
        yield from _objects(item, item_path)


def nested(key: str, value: Any) -> Config:
    """Returns an object with a value at a key; `a.b` stands for the key `b` of an object `a`."""
    outer, _, inner = key.partition(".")
    if not inner:
        return {outer: value}
    return {outer: {inner: value}}


def replace_by_items(config: Config, key: str, new_items: Config) -> None:
    """
    Removes a key, and puts the keys and values of `new_items` in its place. If the configuration
    already has one of the new keys, the old and the new value are merged.
    """
    # A dictionary keeps the order of insertion, so all keys are inserted again.
    old_items = list(config.items())
    config.clear()
    for old_key, value in old_items:
        if old_key == key:
            _merge_items(config, new_items)
        else:
            merge(config, old_key, value)


def merge(config: Config, key: str, value: Any) -> None:
    """
    Sets the value of a key. If both the value that the key has and the new one are objects, or both
    are lists, the new value is added to the present one instead.
    """
    present = config.get(key)
    if isinstance(present, dict) and isinstance(value, dict):
        _merge_items(present, value)
    elif isinstance(present, list) and isinstance(value, list):
        for item in value:
            _add_to_list(present, item)
    else:
        config[key] = value


def _merge_items(config: Config, new: Config) -> None:
    """Merges each item of another object into the configuration."""
    for key, value in new.items():
        merge(config, key, value)


def _add_to_list(items: list[Any], new: Any) -> None:
    """
    Adds an item to a list. If the list has an item of the same type already, the options of both
    are merged instead. An item without options may be the name of its type, as in AllenNLP.
    """
    new_type = type_of(new)
    for index, item in enumerate(items):
        if new_type and type_of(item) == new_type:
            if isinstance(item, str):
                items[index] = new
            elif isinstance(new, dict):
                _merge_items(item, new)
            return
    items.append(new)


def type_of(value: Any) -> str:
    """
    Returns the type of an object, or an empty text if it has none. AllenNLP lets the name of a type
    stand for an object without options, so a text is its own type.
    """
    if isinstance(value, dict):
        value = value.get("type")
    if not isinstance(value, str):
        return ""
    return value


def as_options(value: Any) -> Config:
    """
    Returns a copy of an object, with its type; see `type_of` for a text. Raises `TypeError` or
    `ValueError` for any other value.
    """
    if isinstance(value, str):
        return {"type": value}
    return dict(value)


def without_type(options: Config) -> Config:
    """Returns the options of an object, but not its type."""
    return {key: value for key, value in options.items() if key != "type"}
