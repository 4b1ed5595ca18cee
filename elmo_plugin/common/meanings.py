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
    """Returns the tables "commands", "options" and "arguments"."""
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    for card in task_cards().values():
        if card.command_words:
            tables["commands"][card.command] = " ".join(card.command_words)
    return tables


def meant_name(typed: str, names: Iterable[str], table: str, exists: Callable[[str], bool]) -> str:
    """
    Returns the likely meaning of a word: one of the names, or the first entry of a table that has
    the word and exists; else an empty string.
    """
    own = {_plain(name): name for name in names}
    known = {
        _plain(word): target
        for target, words in reversed(meanings()[table].items())
        if exists(target)
        for word in words.split()
    } | own
    word = _plain(typed)
    alike = [
        *filter(word.__eq__, known),
        *(each for each in known if sorted(each) == sorted(word)),
        *get_close_matches(word, known, 1, _ALIKE),
        *get_close_matches(word, [each for each in own if len(each) > 1], 1, _OUR_ALIKE),
    ]
    return known[alike[0]] if alike else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
