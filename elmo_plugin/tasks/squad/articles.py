"""Paragraphs with questions and answers, from the JSON of SQuAD, JSON lines or tables."""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.records import Record, detect_format, parse_records
from elmo_plugin.tasks.skipped import Skipped, UnusableExample

logger = logging.getLogger(__name__)

_SHAPE = '{"id": …, "context": …, "question": …, "answers": {"text": […], "answer_start": […]}}'
_COLUMNS = (  # of a table
    ("context", "passage", "paragraph"),
    ("question",),
    ("answer", "answer_text", "text"),
    ("answer_start", "start"),
    ("id",),
)
_SPACE = re.compile(r"\s")  # one character for one, no-break spaces included
_ENDS = re.compile(r"^[\s\ufeff\u200b\u2060]+|[\s\ufeff\u200b\u2060]+$")
_KINDS = {list: "a list", str: "text", int: "a number", str | int: "text", bool: "true or false"}

UNANSWERABLE = "SQuAD 2.0's unanswerable questions are not part of this task; skip_unanswerable skips them"


class Answer(NamedTuple):
    """A text, and the index of its first character in the paragraph."""

    text: str
    start: int


class Question(NamedTuple):
    """A question, and all answers that people gave, with repetitions."""

    id: str | int
    text: str
    answers: list[Answer]


class Paragraph(NamedTuple):
    """A paragraph and its questions."""

    location: str  # the file, the title of the article, and the number of the paragraph in it; or the line
    text: str
    questions: list[Question]


class SquadOptions(NamedTuple):
    """
    Options that change or skip questions. The log has their numbers, and the first ids of the skipped ones.

    repair_offsets: search for answers that are not at their `answer_start`, at the nearest place
    skip_unanswerable: skip the questions of SQuAD 2.0 without an answer
    skip_bad: skip the questions that cannot be used
    """

    repair_offsets: bool = False
    skip_unanswerable: bool = False
    skip_bad: bool = False


def read_squad(path: str | os.PathLike[str], **options: bool) -> Iterator[Paragraph]:
    """
    Reads the JSON of SQuAD 1.1: articles, their paragraphs, and questions with any answers; or JSON lines,
    each a question with its `context`, as Hugging Face's data sets have them; or a table (CSV, TSV) with the
    columns `context`, `question`, `answer`, `answer_start` and maybe `id`. An answer that is in its context
    only once needs no `answer_start`. See `SquadOptions`.

    Raises `ConfigurationError`, naming the file and, if known, the line, article and question, if the file is
    not JSON or has another shape, an answer is not at its place, or a question is unanswerable or has the id
    of an earlier one.
    """
    chosen = SquadOptions(**options)
    yield from parse_squad(read_text_lines(str(path), keep_marks=True), chosen, Skipped(chosen.skip_bad))


def parse_squad(lines: Iterable[Line], options: SquadOptions, skipped: Skipped) -> Iterator[Paragraph]:
    """Yields the paragraphs of the lines of a file, see `read_squad`, and logs what is skipped in the end."""
    lines = [line for line in lines if line.text.strip()]
    if not lines:
        return
    skipped.file = lines[0].file
    parser = _SquadParser(options, skipped)
    for location, paragraph in _paragraphs(lines):
        try:
            parsed = parser.parse(paragraph, location)
        except UnusableExample as error:
            skipped.add_unusable(error, location, location)
        else:
            yield parsed
    if parser.repaired:
        logger.info("%s: repaired the answer_start of %d answers", lines[0].file, parser.repaired)
    skipped.log("questions")


def _paragraphs(lines: list[Line]) -> Iterator[tuple[str, Any]]:
    """Yields the location of each paragraph, and the paragraph as SQuAD has it."""
    file = lines[0].file
    if lines[0].text.lstrip()[0] not in "{[" and detect_format(lines[0]) in ("csv", "tsv"):
        for record in parse_records(lines):
            yield record[0].location, _with_one_question(_question_in_row(record))
        return
    first = _first_object(lines[0])
    if first is not None and "data" not in first and ("context" in first or len(lines) > 1):
        for line in lines:
            with as_configuration_error():
                question = parse_json(line.text, line.location, is_line=True)
            yield line.location, _with_one_question(question)
        return
    with as_configuration_error():
        content = parse_json("".join(line.text for line in lines), file)
    if isinstance(content, list) and content and "context" in content[0]:
        yield from ((f"{file}, question {n}", _with_one_question(item)) for n, item in enumerate(content, 1))
        return
    try:
        for number, article in enumerate(_get(content, "data", list), start=1):
            title = article.get("title") if isinstance(article, dict) else None
            file = f"{lines[0].file}, {title if title and isinstance(title, str) else f'article {number}'}"
            for index, paragraph in enumerate(_get(article, "paragraphs", list), start=1):
                yield f"{file}, paragraph {index}", paragraph
    except UnusableExample as error:
        raise ConfigurationError(f"{file}: {error}") from None


def _with_one_question(question: Any) -> Any:
    return {"context": question.get("context"), "qas": [question]} if isinstance(question, dict) else question


def _question_in_row(record: Record) -> dict[str, Any]:
    """Returns the question of a row of a table, as JSON lines have it."""
    line, fields = record
    names = {name.lower(): name for name in reversed(fields)}
    columns = [next((names[name] for name in usual if name in names), None) for usual in _COLUMNS]
    if None in columns[:3]:
        raise ConfigurationError(
            f"{line.location}: expected the columns context, question, answer and answer_start, "
            f"got {', '.join(fields)}"
        )
    values: list[Any] = [fields.get(column or "") for column in columns]
    context, question, answer, start, identifier = values
    if start is None and context.count(answer) == 1:
        start = str(context.index(answer))
    answers = [{"text": answer, "answer_start": int(start) if str(start).isdecimal() else start}]
    identifier = identifier or f"line {line.number}"
    return {"id": identifier, "context": context, "question": question, "answers": answers}


def _first_object(first: Line) -> dict[str, Any] | None:
    """Returns the JSON object in the first line of a file, if it is one. Refuses what cannot be JSON."""
    if first.text.lstrip()[0] not in "{[":
        raise ConfigurationError(
            f"{first.location}: expected SQuAD's JSON, JSON lines or a table, got "
            f"{first.text.strip()!r:.60}; write each question as a line {_SHAPE}"
        )
    try:
        content = parse_json(first.text, first.location, is_line=True)
    except BiLmError:
        return None
    return content if isinstance(content, dict) else None


class _SquadParser:
    """Parses paragraphs, and counts repaired answers and skipped questions."""

    def __init__(self, options: SquadOptions, skipped: Skipped) -> None:
        self._options = options
        self._skipped = skipped
        self._ids: set[str] = set()
        self.repaired = 0

    def parse(self, paragraph: Any, location: str) -> Paragraph:
        """Returns a paragraph of the file, checked."""
        text = _get(paragraph, "context", str)
        if _is_blank(text):
            raise UnusableExample("about a blank paragraph", "the paragraph is blank")
        questions = []
        for item in _get(paragraph, "qas", list):
            identifier = item.get("id") if isinstance(item, dict) else None
            place = location if identifier is None else f"{location}, question {identifier}"
            try:
                questions += self._parse_question(item, text, place)
            except UnusableExample as error:
                self._skipped.add_unusable(error, place, str(identifier))
        return Paragraph(location, text, questions)

    def _parse_question(self, item: Any, paragraph: str, location: str) -> list[Question]:
        """Returns the question, or nothing if it is unanswerable and these are skipped."""
        identifier = _get(item, "id", str | int)
        if str(identifier) in self._ids:
            raise UnusableExample("with the id of an earlier one", "an earlier question has the same id")
        self._ids.add(str(identifier))
        if item.get("is_impossible") is not None and _get(item, "is_impossible", bool):
            if not self._options.skip_unanswerable:
                raise ConfigurationError(f"{location}: {UNANSWERABLE}")
            self._skipped.add("without an answer", str(identifier))
            return []
        question = _get(item, "question", str)
        if _is_blank(question):
            raise UnusableExample("that are blank", "the question is blank")
        return [Question(identifier, question, [self._parse_answer(a, paragraph) for a in _answers(item)])]

    def _parse_answer(self, answer: Any, paragraph: str) -> Answer:
        text, start = _get(answer, "text", str), _get(answer, "answer_start", int)
        if _is_blank(text):
            raise UnusableExample("with a blank answer", "an answer is blank")
        if (left := _ENDS.match(text)) is not None:
            start += left.end()
        text = _ENDS.sub("", text)
        spaced, sought = _SPACE.sub(" ", paragraph), _SPACE.sub(" ", text)
        if start >= 0 and spaced[start : start + len(text)] == sought:
            return Answer(text, start)
        places = _places(spaced, sought)
        if self._options.repair_offsets and places:
            self.repaired += 1
            return Answer(text, min(places, key=lambda place: abs(place - start)))
        raise UnusableExample(
            f"with an answer that is not {'at its answer_start' if places else 'in the paragraph'}",
            f"the answer {text!r} is not at its answer_start, {start}: found "
            f"{paragraph[max(0, start) :][: len(text)]!r}; {_advice(paragraph, start, places)}",
        )


def _answers(question: dict[str, Any]) -> list[Any]:
    """Returns the answers as objects, from a list of them or from an object of lists."""
    answers = question.get("answers")
    if not isinstance(answers, dict):
        return [] if answers is None else _get(question, "answers", list)
    texts, starts = _get(answers, "text", list), _get(answers, "answer_start", list)
    if len(texts) != len(starts):
        message = f'expected an "answer_start" for each "text", got {len(starts)} for {len(texts)}'
        raise UnusableExample('with malformed "answers"', message)
    return [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]


def _is_blank(text: str) -> bool:
    return not normalize_text(text).strip()


def _places(paragraph: str, text: str) -> list[int]:
    """Returns all indices at which the text begins in the paragraph."""
    places, start = [], paragraph.find(text)
    while start >= 0:
        places.append(start)
        start = paragraph.find(text, start + 1)
    return places


def _advice(paragraph: str, start: int, places: list[int]) -> str:
    if not places:
        return "it is nowhere in the paragraph"
    for unit, encoding, size in (("UTF-16 units", "utf-16-le", 2), ("UTF-8 bytes", "utf-8", 1)):
        if any(len(paragraph[:place].encode(encoding)) == start * size for place in places):
            return f"it seems to count {unit}, not characters; repair_offsets searches for it"
    return "repair_offsets searches for it"


def _get(value: Any, key: str, kind: Any) -> Any:
    """Returns the value of a key, after checking its kind."""
    if not isinstance(value, dict):
        raise UnusableExample("that are malformed", f"expected a JSON object, got {_short(value)}")
    item = value.get(key)
    if not isinstance(item, kind) or isinstance(item, bool) != (kind is bool):
        message = f'expected {_KINDS[kind]} as "{key}", got {_short(item)}'
        raise UnusableExample(f'with a malformed "{key}"', message)
    return item


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
