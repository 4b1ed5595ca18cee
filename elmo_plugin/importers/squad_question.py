"""A question as a file of any form has it, and its checks."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.integers import DIGITS
from elmo_plugin.importers.report import Report, Unusable
from elmo_plugin.importers.squad_places import place_answer
from elmo_plugin.tasks.squad.articles import Question, is_blank

# The values of a flag in lower case: "none" is null in JSON, and "" an empty cell.
_TRUTH_VALUES = {"true": True, "1": True, "false": False, "0": False, "none": False, "": False}
_START = re.compile(rf"(?P<number>{DIGITS})(\.0)?")  # pandas writes 3 as 3.0 beside missing values
_KEYS_OF_STARTS = ("answer_start", "start_byte", "start")  # the first that an answer has counts


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


def fields_of_question(question: Any) -> dict[str, Any]:
    """
    Returns the fields of a question in JSON. Anything but an object has none: it becomes a question
    without a text, and is left out later.
    """
    if isinstance(question, dict):
        return question
    return {}


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
    Returns the example of a question. Raises `Unusable`, with the reason, if the passage or the
    question is missing or blank, if another field is malformed, or if the place of an answer is not
    certain. With `take_first_places`, an answer is at the first of several possible places.
    """
    if not isinstance(raw.passage, str):
        raise Unusable('without a "context" (--column context=NAME)')
    if is_blank(raw.passage):
        raise Unusable("about a blank passage")
    if not isinstance(raw.text, str):
        raise Unusable('without a "question" (--column question=NAME)')
    if is_blank(raw.text):
        raise Unusable("that are blank")
    if _truth_value(raw.is_impossible):
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


def _truth_value(is_impossible: Any) -> bool:
    """
    Returns whether a question is marked as impossible. In a table the mark is a text, such as
    "false". Raises `Unusable` for a value that is no truth value.
    """
    text = str(is_impossible).lower()
    if text not in _TRUTH_VALUES:
        raise Unusable('with a malformed "is_impossible"')
    return _TRUTH_VALUES[text]


def _raw_answers(value: Any, passage: str) -> list[_RawAnswer]:
    """
    Returns the answers to a question about a passage. The value may be one text or a list of texts,
    one object or a list of objects, or an object with a list for each field, such as `text` and
    `answer_start`.

    Raises `Unusable` if the value is anything else.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [_RawAnswer(value, None)]
    if is_list_of(value, str):
        return [_RawAnswer(text, None) for text in value]
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        objects = _objects_of_lists(value)
    elif isinstance(value, dict):
        objects = [value]
    elif is_list_of(value, dict):
        objects = value
    else:
        raise Unusable('with malformed "answers"')
    return [_answer_of_object(item, passage) for item in objects]


def _objects_of_lists(lists: dict[str, Any]) -> list[dict[str, Any]]:
    """
    Returns an object for each answer, given an object with a list for each field. Beside `text`,
    one field has the places of the answers: MRQA calls it `char_spans`, TyDi `start_byte`, and
    other data sets `answer_start`.
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
    Returns an object for each place of each answer. Each item of `spans` has the places of one
    answer, such as `{"start": [18, 43], "end": [21, 46]}`, as in Hugging Face's copy of MRQA.
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


def _key_of_start(item: dict[str, Any]) -> str:
    """Returns the key of the beginning of an answer: the usual one if the object has none."""
    for key in _KEYS_OF_STARTS:
        if key in item:
            return key
    return "answer_start"


def _answer_of_object(item: dict[str, Any], passage: str) -> _RawAnswer:
    """
    Returns the answer that an object describes by its `text` and the beginning of the text in the
    passage. Raises `Unusable` if one of them is malformed.
    """
    text = item.get("text")
    key_of_start = _key_of_start(item)
    start = item.get(key_of_start)
    if text is None and start is not None:
        raise Unusable("with the place of an answer, but without its text")
    if not isinstance(text, str):
        raise Unusable('with malformed "answers"')
    if start is None or start == "":
        return _RawAnswer(text, None)
    match = _START.fullmatch(str(start))
    if match is None:
        raise Unusable('with a malformed "answer_start"')
    number = int(match["number"])
    if key_of_start == "start_byte":
        number = _characters_before(passage, number)
    return _RawAnswer(text, number)


def _characters_before(passage: str, num_bytes: int) -> int:
    """Returns how many characters the first bytes of a passage are, in UTF-8."""
    first_bytes = passage.encode("utf-8")[:num_bytes]
    return len(first_bytes.decode("utf-8", "ignore"))  # a character that is cut does not count
