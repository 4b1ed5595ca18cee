"""A question as a file of any form has it, and its checks."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.squad_places import place_answer
from elmo_plugin.tasks.squad.articles import Question, is_blank

# The values of a flag in lower case: "none" is null in JSON, and "" an empty cell.
_FLAGS = {"true": True, "1": True, "false": False, "0": False, "none": False, "": False}
_START = re.compile(r"(\d+)(\.0)?")  # "3.0" is how pandas writes 3 beside missing values


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


class _RawAnswer(NamedTuple):
    """An answer, and the index of its first character according to the file, if it is given."""

    text: str
    start: int | None


def checked_example(
    raw: RawQuestion, report: Report, take_first_places: bool = False
) -> SquadExample:
    """
    Returns the example of a question. Raises `Unusable`, with the reason, if something has another
    type, is blank, or the place of an answer is not certain. With `take_first_places`, the first of
    several possible places of an answer will do.
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
    for text, start in _raw_answers(raw.answers, raw.passage):
        answers.append(place_answer(text, start, raw.passage, report, take_first_places))
    question = Question(_identifier(raw, report), raw.text, answers)
    return SquadExample(raw.title, raw.passage, question, raw.place)


def _identifier(raw: RawQuestion, report: Report) -> str | int:
    """
    Returns the id of a question, or, if it has none, its place. Raises `Unusable` if the id is
    neither a text nor a whole number.
    """
    if raw.id is None or raw.id == "":
        report.took("questions without an id have their places as ids")
        return raw.place
    if not isinstance(raw.id, str | int) or isinstance(raw.id, bool):
        raise Unusable('with a malformed "id"')
    return raw.id


def _flag(value: Any) -> bool:
    """
    Returns the truth value that a field has; in a table it is a text, such as "false". Raises
    `Unusable` for any other value.
    """
    flag = _FLAGS.get(str(value).lower())
    if flag is None:
        raise Unusable('with a malformed "is_impossible"')
    return flag


def _raw_answers(value: Any, passage: str) -> list[_RawAnswer]:
    """
    Returns the answers to a question about a passage: from one text, a list of texts, an object for
    each answer, or one object with a list for each field, such as `text` and `answer_start`.

    Raises `Unusable` if the value is anything else.
    """
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = _objects_of_lists(value)
    if isinstance(value, dict):
        value = [value]
    if is_list_of(value, str):
        return [_RawAnswer(text, None) for text in value]
    if not is_list_of(value, dict):
        raise Unusable('with malformed "answers"')
    return [_answer_of_object(item, passage) for item in value]


def _objects_of_lists(lists: dict[str, Any]) -> list[dict[str, Any]]:
    """
    Returns an object for each answer, given a list for each field: `text`, and `char_spans` as MRQA
    has them, `start_byte` as TyDi has it, or `answer_start`.
    """
    texts = lists["text"]
    if isinstance(lists.get("char_spans"), list):
        return _objects_of_spans(texts, lists["char_spans"])
    key = "start_byte" if "start_byte" in lists else "answer_start"
    starts = lists.get(key)
    if not isinstance(starts, list) or len(starts) != len(texts):
        raise Unusable(f'with another number of "{key}" than of answers')
    return [{"text": text, key: start} for text, start in zip(texts, starts, strict=True)]


def _objects_of_spans(texts: list[Any], spans: list[Any]) -> list[dict[str, Any]]:
    """
    Returns an object for each place of each answer. Hugging Face has MRQA's places as
    `{"start": [18, 43], "end": [21, 46]}` for each answer.
    """
    if len(texts) != len(spans) or not is_list_of(spans, dict):
        raise Unusable('with malformed "char_spans"')
    objects = []
    for text, places in zip(texts, spans, strict=True):
        starts = places.get("start")
        if not is_list_of(starts, int) or not starts:
            raise Unusable('with malformed "char_spans"')
        for start in starts:
            objects.append({"text": text, "answer_start": start})
    return objects


def _answer_of_object(item: dict[str, Any], passage: str) -> _RawAnswer:
    """
    Returns the answer that an object describes: its `text`, with its beginning in characters,
    `answer_start` or `start`, or in bytes, `start_byte`, if the object has one of these.
    """
    text = item.get("text")
    is_in_bytes = "answer_start" not in item and "start_byte" in item
    if is_in_bytes:
        start = item["start_byte"]
    else:
        start = item.get("answer_start", item.get("start"))
    if text is None and start is not None:
        raise Unusable("with the place of an answer, but without its text")
    if not isinstance(text, str):
        raise Unusable('with malformed "answers"')
    if start is None or start == "":
        return _RawAnswer(text, None)
    match = _START.fullmatch(str(start))
    if match is None:
        raise Unusable('with a malformed "answer_start"')
    number = int(match[1])
    if is_in_bytes:
        number = _characters_before(passage, number)
    return _RawAnswer(text, number)


def _characters_before(passage: str, num_bytes: int) -> int:
    """Returns how many characters the first bytes of a passage are, in UTF-8."""
    first_bytes = passage.encode("utf-8")[:num_bytes]
    return len(first_bytes.decode("utf-8", "ignore"))  # a character that is cut does not count
