"""A question as a file of any form has it, and its checks."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.squad_places import place_answer
from elmo_plugin.tasks.squad.articles import Question, is_blank

_FLAGS = {"true": True, "1": True, "false": False, "0": False, "none": False, "": False}
_START = re.compile(r"(\d+)(\.0)?")


@dataclass(frozen=True)
class RawQuestion:
    """The values that a file has for a question, of whatever type, and their place."""

    place: str
    passage: Any
    text: Any
    answers: Any = None
    id: Any = None
    title: str = ""
    is_impossible: Any = None


class SquadExample(NamedTuple):
    """A question about a passage."""

    title: str
    passage: str
    question: Question
    place: str  # in its file


class _Answer(NamedTuple):
    """An answer, and its beginning according to the file."""

    text: str
    start: int | None


def checked_example(raw: RawQuestion, report: Report) -> SquadExample:
    """
    Returns the example of a question. Raises `Unusable`, with the reason, if something has another
    type, is blank, or the place of an answer is not certain.
    """
    if not isinstance(raw.passage, str):
        raise Unusable('without a "context"')
    if is_blank(raw.passage):
        raise Unusable("about a blank passage")
    if not isinstance(raw.text, str):
        raise Unusable('without a "question"')
    if is_blank(raw.text):
        raise Unusable("that are blank")
    if _flag(raw.is_impossible):
        raise Unusable("that their passage does not answer (is_impossible)")
    answers = []
    for answer in _answers(raw.answers):
        answers.append(place_answer(answer.text, answer.start, raw.passage, report))
    question = Question(_identifier(raw, report), raw.text, answers)
    return SquadExample(raw.title, raw.passage, question, raw.place)


def _identifier(raw: RawQuestion, report: Report) -> str | int:
    if raw.id is None or raw.id == "":
        report.took("questions without an id have their places as ids")
        return raw.place
    if not isinstance(raw.id, str | int) or isinstance(raw.id, bool):
        raise Unusable('with a malformed "id"')
    return raw.id


def _flag(value: Any) -> bool:
    """Returns a value that is true or false, also as text of a table."""
    flag = _FLAGS.get(str("" if value is None else value).lower())
    if flag is None:
        raise Unusable('with a malformed "is_impossible"')
    return flag


def _answers(value: Any) -> list[_Answer]:
    """
    Returns the answers: a text, a list of texts or of objects, or an object with lists of `text`
    and `answer_start`.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [_Answer(value, None)]
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = _objects(value)
    if isinstance(value, dict):
        value = [value]
    if is_list_of(value, str):
        return [_Answer(text, None) for text in value]
    if not is_list_of(value, dict):
        raise Unusable('with malformed "answers"')
    return [_answer(item) for item in value]


def _objects(lists: dict[str, Any]) -> list[dict[str, Any]]:
    texts, starts = lists["text"], lists.get("answer_start")
    if not isinstance(starts, list) or len(starts) != len(texts):
        raise Unusable('with another number of "answer_start" than of answers')
    return [
        {"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)
    ]


def _answer(item: dict[str, Any]) -> _Answer:
    text, start = item.get("text"), item.get("answer_start")
    if not isinstance(text, str):
        raise Unusable('with malformed "answers"')
    if start is None or start == "":
        return _Answer(text, None)
    match = _START.fullmatch(str(start))
    if match is None:
        raise Unusable('with a malformed "answer_start"')
    return _Answer(text, int(match[1]))
