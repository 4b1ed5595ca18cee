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
    Returns tables with other words for our names, such as "answer ask qa" for "elmo predict squad":
    `tables[table][name]` has them, separated by spaces. The file has most tables. The cards of the
    tasks add words to "commands", and fill the tables "models", and "projects" for the tasks that
    have no trained model here.
    """
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    tables["models"] = {}
    tables["projects"] = {}
    for card in task_cards().values():
        if card.command_words:
            tables["commands"][card.command] = " ".join(card.command_words)
        if card.words:
            # Only the card of a task with a trained model describes predictions.
            has_model = bool(card.finds)
            if has_model:
                table = tables["models"]
            else:
                table = tables["projects"]
            table[card.name] = " ".join(card.words)
    return tables


def meant_name(typed: str, names: Iterable[str], table: str, exists: Callable[[str], bool]) -> str:
    """
    Returns what somebody who typed a word probably means, or an empty string: one of the `names`,
    or a target in a table of `meanings` for which there is such a word. Only targets that `exists`
    accepts count, and the first one if a word stands for several.

    Looks for the same word first, then for the same letters in another order, then for a similar
    word.
    """
    own = {_plain(name): name for name in names}
    # On the right, because our names replace equal words of the table.
    known = _targets(table, exists) | own
    typed = _plain(typed)
    if typed in known:
        return known[typed]
    for word, target in known.items():
        if sorted(word) == sorted(typed):  # the same letters in another order
            return target
    close = get_close_matches(typed, known, 1, _ALIKE)
    if not close:
        # Our own names may be less alike. One letter, as of the option -k, is like nothing.
        long_names = [word for word in own if len(word) > 1]
        close = get_close_matches(typed, long_names, 1, _OUR_ALIKE)
    if not close:
        return ""
    return known[close[0]]


def _targets(table: str, exists: Callable[[str], bool]) -> dict[str, str]:
    """Returns the first target of each word in a table, among the targets that `exists` accepts."""
    target_of_word: dict[str, str] = {}
    for target, words in meanings()[table].items():
        if exists(target):
            for word in words.split():
                target_of_word.setdefault(_plain(word), target)
    return target_of_word


def no_attribute(owner: str, name: str) -> AttributeError:
    """
    Returns the error for an attribute that objects of the class `owner` do not have. If the table
    "attributes of OWNER" lists the name, as one of other libraries, the error says what to write
    instead.
    """
    missing = f"{owner!r} object has no attribute {name!r}"
    for target, words in meanings()[f"attributes of {owner}"].items():
        if name in words.split():
            return AttributeError(f"{missing}; {write_instead(target)}")
    return AttributeError(missing)


def write_instead(target: str) -> str:
    """
    Returns the end of a message for a target of a table: the target itself if it is a sentence, or
    `write TARGET`.
    """
    if target.endswith("."):
        return target.removesuffix(".")
    return f"write {target}"


def _plain(name: str) -> str:
    """Returns a name in lower case without hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")
