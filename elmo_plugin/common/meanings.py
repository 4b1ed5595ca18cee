"""
Other words for our names, and the names that a person typing them probably means.

`meanings.json` lists other words for each command, each option, each argument of a Python function,
each attribute of a class and each name of the package. Capitals in such a name stand for a value. A
name that ends in a full stop is a whole sentence of advice. The words for a task are on its card.
"""

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from elmo_plugin.common.task_cards import task_cards

# How similar two words must be, from 0 to 1. The tables have so many words that a lower figure
# would find one for any typed word. Our own names are few.
_MIN_SIMILARITY = 0.85
_MIN_SIMILARITY_TO_OUR_NAME = 0.75


@cache
def meanings() -> dict[str, dict[str, str]]:
    """
    Returns tables with other words for our names. `meanings()[table][name]` has the words for a
    name, separated by spaces, such as "answer ask qa" for "elmo predict squad" in "commands".

    Most tables are in `meanings.json`. The cards of the tasks add words to the table "commands".
    They make the table "models" from tasks with a trained model, and "projects" from the others.
    """
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    tables["models"] = {}
    tables["projects"] = {}
    for card in task_cards().values():
        if card.command_words:
            tables["commands"][card.command] = " ".join(card.command_words)
        if card.words:
            if card.has_predictions:
                table = tables["models"]
            else:
                table = tables["projects"]
            table[card.name] = " ".join(card.words)
    return tables


def meant_name(typed: str, names: Iterable[str], table: str, exists: Callable[[str], bool]) -> str:
    """
    Returns what somebody who typed a word probably means, or an empty string. The answer is one of
    the `names`, or a name in a table of `meanings` that has other words for it. A name of the table
    only counts if `exists` accepts it.

    Looks for the same word first, then for the same letters in another order, then for a similar
    word.
    """
    own_names = {_plain(name): name for name in names}
    # Our names are on the right, so that they replace equal words of the table.
    name_of_word = _names_in_table(table, exists) | own_names
    typed = _plain(typed)
    if typed in name_of_word:
        return name_of_word[typed]
    for word, name in name_of_word.items():
        if sorted(word) == sorted(typed):  # the same letters in another order
            return name
    similar = get_close_matches(typed, name_of_word, n=1, cutoff=_MIN_SIMILARITY)
    if not similar:
        similar = get_close_matches(typed, own_names, n=1, cutoff=_MIN_SIMILARITY_TO_OUR_NAME)
    if not similar:
        return ""
    return name_of_word[similar[0]]


def _names_in_table(table: str, exists: Callable[[str], bool]) -> dict[str, str]:
    """
    Returns the name for each word in a table, among the names that `exists` accepts. If a word
    stands for several names, it gets the first one.
    """
    name_of_word: dict[str, str] = {}
    for name, words in meanings()[table].items():
        if exists(name):
            for word in words.split():
                name_of_word.setdefault(_plain(word), name)
    return name_of_word


def no_attribute(owner: str, name: str) -> AttributeError:
    """
    Returns the error for an attribute that objects of the class `owner` do not have. Other
    libraries have attributes of other names: if the table "attributes of OWNER" lists such a name,
    the error says what to write instead.
    """
    missing = f"{owner!r} object has no attribute {name!r}"
    for our_name, words in meanings()[f"attributes of {owner}"].items():
        if name in words.split():
            return AttributeError(f"{missing}; {write_instead(our_name)}")
    return AttributeError(missing)


def write_instead(name: str) -> str:
    """
    Returns the end of a message that advises a name of a table: `write NAME`, or the name itself if
    it is a sentence of advice.
    """
    if name.endswith("."):
        return name.removesuffix(".")
    return f"write {name}"


def _plain(name: str) -> str:
    """Returns a name in lower case without hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")
