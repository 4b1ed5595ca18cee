"""
The cards of the tasks: each task is described once, in a file `NAME.card.json` beside its code.

A card is data, so `elmo --help` and this package, on which all others build, can read it without
the torch and AllenNLP that the task's code needs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parents[1]
_FOLDERS_WITH_CARDS = ("tasks", "language_model")


@dataclass(frozen=True)
class InputText:
    """
    A text that a predictor reads.

    name: its key in the predictor's JSON
    rows: the number of lines that its box has on the page
    other_names: keys that mean the same text
    """

    name: str
    rows: int = 2
    other_names: Sequence[str] = ()


@dataclass(frozen=True)
class ProjectCard:
    """
    The texts of `elmo new` for a task; the template itself is the folder `projects/NAME`.

    about: continues "a model that finds"
    example: arguments of `elmo predict` for the README
    format: the form of the user's data
    """

    about: str
    example: str = ""
    format: str = ""


@dataclass(frozen=True)
class TabCard:
    """
    The texts of a task on the page of `elmo demo`.

    about: one question and one sentence
    examples: texts by their names; all are our own
    """

    about: str = ""
    examples: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class TaskCard:
    """
    All that the code outside of a task knows of it. Only `name` is required.

    name: the name of the bundled model, the project and the tab; the predictor is called "elmo_"
        followed by this name
    order: the place of the task in lists of tasks
    title: the usual name, as people read it
    texts: the predictor's inputs, in the order in which people type them
    tagger: the task whose model finds the predicates for this one
    words: other words for the task that people type as the name of a model or a project
    command_words: words that people type as a command when they mean `elmo predict NAME`
    finds: keys of a prediction that may hold its result; the first one in a prediction decides how
        it is shown and written, see `predictions.kinds`; empty if the
        package has no trained model for the task
    nothing_found: shown if nothing was found
    colors: the colors of labels that often occur together, from 0 to 7; others get one by their
        letters
    project: for `elmo new`, or `None`
    tab: for `elmo demo`
    """

    name: str
    order: int = 0
    title: str = ""
    texts: Sequence[InputText] = (InputText("sentence"),)
    tagger: str = ""
    words: Sequence[str] = ()
    command_words: Sequence[str] = ()
    finds: Sequence[str] = ()
    nothing_found: str = "Nothing found."
    colors: Mapping[str, int] = field(default_factory=dict)
    project: ProjectCard | None = None
    tab: TabCard = TabCard()

    @property
    def text_names(self) -> list[str]:
        """The names of the texts."""
        return [text.name for text in self.texts]

    def usual_name(self, name: str) -> str:
        """
        Returns the name of an input text that the user may call by one of its other names. A `name`
        that is no such name is returned unchanged.
        """
        for text in self.texts:
            if name in text.other_names:
                return text.name
        return name

    @property
    def command(self) -> str:
        """The command that predicts, such as `elmo predict squad PASSAGE QUESTION`."""
        arguments = "TEXT"  # A single text needs no name to tell it from others.
        if len(self.texts) > 1:
            arguments = " ".join(name.upper() for name in self.text_names)
        return f"elmo predict {self.name} {arguments}"

    @property
    def has_predictions(self) -> bool:
        """Whether the package has a trained model that makes predictions for the task."""
        return len(self.finds) > 0


# The classes of a card's entries that are objects themselves.
_CLASS_OF_ENTRY: dict[str, type[Any]] = {"project": ProjectCard, "tab": TabCard}


@cache
def task_cards() -> dict[str, TaskCard]:
    """Returns the cards of all tasks by the tasks' names, sorted by `order`."""
    cards = []
    for folder in _FOLDERS_WITH_CARDS:
        for path in (_PACKAGE / folder).rglob("*.card.json"):
            cards.append(_read_card(path))
    cards.sort(key=lambda card: card.order)
    return {card.name: card for card in cards}


def _read_card(path: Path) -> TaskCard:
    """
    Reads a card from its JSON file. Entries that the file does not have get the defaults of
    `TaskCard`.
    """
    values = json.loads(path.read_text(encoding="utf-8"))
    # In the file, the words for a task are one string, separated by spaces.
    for key in ("words", "command_words"):
        if key in values:
            values[key] = tuple(values[key].split())
    if "texts" in values:
        values["texts"] = tuple(InputText(**text) for text in values["texts"])
    for key, card_class in _CLASS_OF_ENTRY.items():
        if key in values:
            values[key] = card_class(**values[key])
    return TaskCard(**values)
