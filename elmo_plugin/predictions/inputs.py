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
    Returns the predictor's input: the texts by the task's names for them, in this order. If a
    question comes before its passage, the two are exchanged, with a warning. Raises `BiLmError`,
    beginning with `place`, unless there is one text for each name.
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
    """
    Returns whether the texts are in the wrong order for the task, a question before its passage:
    the first is a single question, and the last is longer and no question.
    """
    if "question" not in task.text_names:
        return False
    first = texts[0]
    last = texts[-1]
    last_is_question = last.rstrip(_CLOSING).endswith(_QUESTION_MARKS)
    if last_is_question or len(last) <= len(first):
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
        text = str(item)  # an item of a numpy array is of a subclass of `str`
        return input_of_texts(task, [text], place)
    names = task.text_names
    if len(names) > 1:  # a list of texts, such as a premise and a hypothesis
        texts = as_words(item, place, expected=" and ".join(names))
        return input_of_texts(task, texts, place)
    words = as_words(item, place, expected="a text or a list of words")
    if "document" in names:  # of a single sentence
        return {"sentences": [words]}
    return {"words": words}
