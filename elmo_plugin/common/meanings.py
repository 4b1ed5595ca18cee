"""
Other words for our names, and the names that a person typing them probably means.

`meanings.json` lists words for each command, each option, each argument of a Python function, each
attribute of a class and each name of the package; capitals in it stand for a value, and a target
that ends in a full stop is a sentence. The words for a task are on its card.
"""

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from elmo_plugin.common.task_cards import task_cards

# How alike two words must be, from 0 to 1. The tables have so many words that a lower figure would
# find one for any word; our own names are few.
_ALIKE = 0.85
_OUR_ALIKE = 0.75


@cache
def meanings() -> dict[str, dict[str, str]]:
    """
    Returns the words for each name, in tables: "commands", "options" and "arguments" from the file,
    and from the cards "models", or "projects" for the tasks that have no trained model here.
    """
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    tables["models"] = {}
    tables["projects"] = {}
    for card in task_cards().values():
        if card.command_words:
            tables["commands"][card.command] = " ".join(card.command_words)
        if card.words:
            table = tables["projects"]
            if card.finds:
                table = tables["models"]
            table[card.name] = " ".join(card.words)
    return tables


def meant_name(typed: str, names: Iterable[str], table: str, exists: Callable[[str], bool]) -> str:
    """
    Returns the likely meaning of a word: one of the names, or the first target in a table that has
    the word, among the targets that `exists` accepts; else an empty string.
    """
    own = {_plain(name): name for name in names}
    known: dict[str, str] = {}
    for target, words in meanings()[table].items():
        if exists(target):
            for word in words.split():
                known.setdefault(_plain(word), target)
    known.update(own)  # our names count before words of the table

    typed = _plain(typed)
    if typed in known:
        return known[typed]
    for word, target in known.items():
        if sorted(word) == sorted(typed):  # the same letters in another order
            return target
    close = get_close_matches(typed, known, 1, _ALIKE)
    if not close:
        long_names = [word for word in own if len(word) > 1]  # not an option such as -k
        close = get_close_matches(typed, long_names, 1, _OUR_ALIKE)
    if not close:
        return ""
    return known[close[0]]


def no_attribute(owner: str, name: str) -> AttributeError:
    """
    Returns the error for an attribute that a class does not have. If other libraries have one of
    this name, the error says what to write instead, by the table "attributes of OWNER".
    """
    missing = f"{owner!r} object has no attribute {name!r}"
    for target, words in meanings()[f"attributes of {owner}"].items():
        if name in words.split():
            return AttributeError(f"{missing}; {write_instead(target)}")
    return AttributeError(missing)


def write_instead(target: str) -> str:
    """Returns the end of a message for a target of a table: a sentence, or something to write."""
    if target.endswith("."):
        return target.removesuffix(".")
    return f"write {target}"


def _plain(name: str) -> str:
    """Returns a name in lower case without hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")
