"""Turns texts into the inputs of a predictor."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError, as_words
from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.task_cards import TaskCard

logger = get_logger(__name__)

_AFTER_QUESTION_MARK = " \t\r\n\"'”’)"  # noqa: RUF001
# The only sentence that ends in `?` or `!` is a question, and nothing comes after it.
_SINGLE_QUESTION = re.compile(rf"[^?!？！]*[?？][{_AFTER_QUESTION_MARK}]*")  # noqa: RUF001
_QUESTION_MARKS = ("?", "\uff1f")


class Input(NamedTuple):
    """The input of AllenNLP's predictor, with its place for messages, and its line in a file."""

    place: str
    values: dict[str, Any]
    line: int | None = None


def input_of_texts(task: TaskCard, texts: Sequence[str], place: str = "") -> dict[str, Any]:
    """
    Returns the predictor's input: each text by the name that the task has for it. The texts come
    in the order of these names. A question that comes before its passage is exchanged with it, and
    a warning says so. Raises `BiLmError`, beginning with `place`, unless there is one text for each
    name.
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
    Returns whether a question comes before its passage, but the task takes them in the other order.
    The first text is then a single question, and the last one is longer and does not end in a
    question.
    """
    if "question" not in task.text_names:
        return False
    first = texts[0]
    last = texts[-1]
    last_is_question = last.rstrip(_AFTER_QUESTION_MARK).endswith(_QUESTION_MARKS)
    if last_is_question or len(last) <= len(first):
        return False
    return _SINGLE_QUESTION.fullmatch(first) is not None


def input_of_item(task: TaskCard, item: Any, place: str) -> dict[str, Any]:
    """
    Returns the predictor's input for a text, a list of words, or a complete input. Raises
    `BiLmError`, beginning with `place`, for anything else.
    """
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, str):
        text = str(item)  # numpy's strings are of a subclass of `str`
        return input_of_texts(task, [text], place)
    names = task.text_names
    if len(names) > 1:  # a list of texts, such as a premise and a hypothesis
        texts = as_words(item, place, expected=" and ".join(names))
        return input_of_texts(task, texts, place)
    words = as_words(item, place, expected="a text or a list of words")
    if "document" in names:
        return {"sentences": [words]}  # the words are the only sentence of the document
    return {"words": words}
