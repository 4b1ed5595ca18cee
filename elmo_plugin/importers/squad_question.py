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
    """An answer, and its beginning according to the file, in characters or in bytes."""

    text: str
    start: int | None
    is_start_in_bytes: bool = False


def checked_example(raw: RawQuestion, report: Report) -> SquadExample:
    """
    Returns the example of a question. Raises `Unusable`, with the reason, if something has another
    type, is blank, or the place of an answer is not certain.
    """
    if not isinstance(raw.passage, str):
        raise Unusable('without a "context" (--column context=NAME)')
    if is_blank(raw.passage):
        raise Unusable("about a blank passage")
    if not isinstance(raw.text, str):
        raise Unusable('without a "question" (--column question=NAME)')
    if is_blank(raw.text):
        raise Unusable("that are blank")
    if _flag(raw.is_impossible):
        raise Unusable("that their passage does not answer (is_impossible)")
    answers = []
    for answer in _answers(raw.answers):
        start = answer.start
        if answer.is_start_in_bytes and start is not None:
            start = _characters_before(raw.passage, start)
        answers.append(place_answer(answer.text, start, raw.passage, report))
    question = Question(_identifier(raw, report), raw.text, answers)
    return SquadExample(raw.title, raw.passage, question, raw.place)


def _identifier(raw: RawQuestion, report: Report) -> str | int:
    """Returns the id of a question, or else its place."""
    if raw.id is None or raw.id == "":
        report.took("questions without an id have their places as ids")
        return raw.place
    if not isinstance(raw.id, str | int) or isinstance(raw.id, bool):
        raise Unusable('with a malformed "id"')
    return raw.id


def _flag(value: Any) -> bool:
    """Returns the truth value that a field has; in a table it is a text, such as "false"."""
    flag = _FLAGS.get(str(value).lower())
    if flag is None:
        raise Unusable('with a malformed "is_impossible"')
    return flag


def _characters_before(passage: str, num_bytes: int) -> int:
    """Returns the number of characters in the first bytes of a passage in UTF-8."""
    return len(passage.encode("utf-8")[:num_bytes].decode("utf-8", "ignore"))


def _answers(value: Any) -> list[_Answer]:
    """
    Returns the answers: a text, a list of texts or of objects, or an object with lists of `text`
    and of `answer_start`, TyDi's `start_byte`, or MRQA's `char_spans`.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [_Answer(value, None)]
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = _objects_of_lists(value)
    if isinstance(value, dict):
        value = [value]
    if is_list_of(value, str):
        return [_Answer(text, None) for text in value]
    if not is_list_of(value, dict):
        raise Unusable('with malformed "answers"')
    return [_answer_of_object(item) for item in value]


def _objects_of_lists(lists: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the objects whose fields are in lists, a list for each field."""
    texts = lists["text"]
    if isinstance(lists.get("char_spans"), list):
        return _objects_of_spans(texts, lists["char_spans"])
    kind = "start_byte" if "start_byte" in lists else "answer_start"
    starts = lists.get(kind)
    if not isinstance(starts, list) or len(starts) != len(texts):
        raise Unusable(f'with another number of "{kind}" than of answers')
    return [{"text": text, kind: start} for text, start in zip(texts, starts, strict=True)]


def _objects_of_spans(texts: list[Any], spans: list[Any]) -> list[dict[str, Any]]:
    """Returns an object for each place of each answer, as Hugging Face has MRQA's."""
    if len(texts) != len(spans) or not is_list_of(spans, dict):
        raise Unusable('with malformed "char_spans"')
    objects = []
    for text, span in zip(texts, spans, strict=True):
        starts = span.get("start")
        if not is_list_of(starts, int) or not starts:
            raise Unusable('with malformed "char_spans"')
        for start in starts:
            objects.append({"text": text, "answer_start": start})
    return objects


def _answer_of_object(item: dict[str, Any]) -> _Answer:
    """Returns the answer that an object describes, with its beginning if the object has one."""
    text = item.get("text")
    is_in_bytes = "answer_start" not in item and "start_byte" in item
    start = item.get("answer_start", item.get("start"))
    if is_in_bytes:
        start = item["start_byte"]
    if text is None and start is not None:
        raise Unusable("with the place of an answer, but without its text")
    if not isinstance(text, str):
        raise Unusable('with malformed "answers"')
    if start is None or start == "":
        return _Answer(text, None)
    match = _START.fullmatch(str(start))
    if match is None:
        raise Unusable('with a malformed "answer_start"')
    return _Answer(text, int(match[1]), is_start_in_bytes=is_in_bytes)
