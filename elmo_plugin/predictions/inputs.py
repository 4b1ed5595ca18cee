"""Turns texts into the inputs of a predictor."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError, as_words
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.task_cards import TaskCard

logger = get_logger(__name__)

_CLOSING = " \t\r\n\"'”’)"  # noqa: RUF001
_QUESTION = re.compile(rf"[^?!？！]*[?？][{_CLOSING}]*")  # noqa: RUF001
_QUESTION_MARKS = ("?", "\uff1f")


class Input(NamedTuple):
    """The input of AllenNLP's predictor, with its place for messages, and its line in a file."""

    place: str
    values: dict[str, Any]
    line: int | None = None


def input_of_texts(task: TaskCard, texts: Sequence[str], place: str = "") -> dict[str, Any]:
    """
    Returns the predictor's input for one text for each name. A question in the passage's place is
    exchanged with it, and a warning says so. Raises `BiLmError`, beginning with `place`, for
    another number of texts.
    """
    names = task.text_names
    if len(texts) != len(names):
        got = f"{len(texts)} texts"
        if len(texts) == 1:
            got = "1 text"
        raise BiLmError(f"{place or task.title}: expected {' and '.join(names)}, got {got}")
    if is_question_first(task, texts):
        prefix = ""
        if place:
            prefix = f"{place}: "
        logger.warning("%sthe first text is the question, so the two are exchanged", prefix)
        texts = list(reversed(texts))
    return dict(zip(names, texts, strict=True))


def is_question_first(task: TaskCard, texts: Sequence[str]) -> bool:
    """Returns whether these are a single question and, after it, its longer passage."""
    first = texts[0]
    last = texts[-1]
    if "question" not in task.text_names or len(first) >= len(last):
        return False
    if last.rstrip(_CLOSING).endswith(_QUESTION_MARKS):
        return False
    return _QUESTION.fullmatch(first) is not None


def input_of_item(task: TaskCard, item: Any, place: str) -> dict[str, Any]:
    """
    Returns the predictor's input for a text, a list of words, or a complete input. Raises
    `BiLmError`, beginning with `place`, for anything else.
    """
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, str):
        return input_of_texts(task, [str(item)], place)  # a plain `str`, as numpy's is another
    names = task.text_names
    if len(names) > 1:
        return input_of_texts(task, as_words(item, place, " and ".join(names)), place)
    words = as_words(item, place, "a text or a list of words")
    if "document" in names:
        return {"sentences": [words]}
    return {"words": words}
