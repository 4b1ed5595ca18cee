"""
Names that people type for ours, by their meaning: `meanings.json` has the commands, options and
arguments of Python that are meant, and words for each. Capitals stand for a value. The words for a
task are on its card.
"""

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from elmo_plugin.common.task_cards import task_cards

_ALIKE = 0.85  # so that no word of a table is proposed for an unlike one
_OUR_ALIKE = 0.75


@cache
def meanings() -> dict[str, dict[str, str]]:
    """
    Returns the tables "commands", "options" and "arguments", and of the words on the cards
    "models", and "projects" for the tasks that have no trained model here.
    """
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    tables["models"] = {}
    tables["projects"] = {}
    for card in task_cards().values():
        if card.command_words:
            tables["commands"][card.command] = " ".join(card.command_words)
        if card.words:
            table = tables["models"] if card.finds else tables["projects"]
            table[card.name] = " ".join(card.words)
    return tables


def meant_name(typed: str, names: Iterable[str], table: str, exists: Callable[[str], bool]) -> str:
    """
    Returns the likely meaning of a word: one of the names, or the first entry of a table that has
    the word and exists; else an empty string.
    """
    own = {_plain(name): name for name in names}
    known: dict[str, str] = {}
    for target, words in meanings()[table].items():
        if exists(target):
            for word in words.split():
                known.setdefault(_plain(word), target)
    known.update(own)

    typed = _plain(typed)
    if typed in known:
        return known[typed]
    for word, target in known.items():
        if sorted(word) == sorted(typed):  # two letters are exchanged
            return target
    close = get_close_matches(typed, known, 1, _ALIKE)
    if not close:
        close = get_close_matches(typed, [word for word in own if len(word) > 1], 1, _OUR_ALIKE)
    if not close:
        return ""
    return known[close[0]]


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
