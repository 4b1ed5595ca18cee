"""Paragraphs with questions and answers, from the JSON of SQuAD, JSON lines or tables."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.typography import normalize_text
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.records import (
    Skipped,
    UnusableExample,
    as_list,
    detect_format,
    parse_records,
)

_SHAPE = '{"id": …, "context": …, "question": …, "answers": {"text": […], "answer_start": […]}}'
_USUAL = {  # names of the fields of a table or of JSON lines, in lower case
    "context": ("context", "passage", "paragraph", "context_text"),
    "answer": ("answer", "answer_text", "text"),
    "answer_start": ("answer_start", "start"),
    "question": ("question", "query_text"),
    "answers": ("answer_pivot", "answers"),  # AfriQA has answers in another language, too
    "is_impossible": ("is_impossible",),
    "id": ("id", "query_id"),
}
_SPACE = re.compile(r"\s")  # one character for one, no-break spaces included
_TRIMMED = re.compile(r"([\s\ufeff\u200b\u2060]*)(.*?)[\s\ufeff\u200b\u2060]*", re.DOTALL)
_KINDS = {list: "a list", str: "text", int: "a number", str | int: "text", bool: "true or false"}
_LISTS = re.compile(r"""["'](text|answer_start)["']: *(?:array\()?(\[[^\]]*\])""")

UNANSWERABLE = (
    "SQuAD 2.0's unanswerable questions are no part of this task (skip_unanswerable of a reader)"
)


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

    # the file, the title of the article, and the number of the paragraph in it; or the line
    location: str
    text: str
    questions: list[Question]


def read_squad(
    path: str | os.PathLike[str], skipped: Skipped | None = None, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """
    Reads the JSON of SQuAD 1.1: articles, their paragraphs, and questions with any answers; or JSON
    lines, each a question with its `context`, as Hugging Face's data sets have them; or a table
    (CSV, TSV) with the columns `context`, `question`, `answer`, `answer_start` and maybe `id`. An
    answer that is in its context only once needs no `answer_start`. Questions that cannot be used
    may be `skipped`.

    Raises `ConfigurationError`, naming the file and, if known, the line, article and question, if
    the file is not JSON or has another shape, an answer is not at its place, or a question is
    unanswerable or has the id of an earlier one.
    """
    yield from parse_squad(
        read_text_lines(str(path), keep_marks=True), skipped or Skipped(), skip_unanswerable
    )


def parse_squad(
    lines: Iterable[Line], skipped: Skipped, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """Yields the paragraphs of the lines of a file, and logs the `skipped` ones in the end."""
    ids: set[str] = set()
    for place, paragraph in _paragraphs(lines, skipped):
        try:
            if _is_blank(text := _get(paragraph, "context", str)):
                raise UnusableExample("about a blank paragraph", "the paragraph is blank")
            items = _get(paragraph, "qas", list)
        except UnusableExample as error:
            skipped.skip_or_raise(error, place, place)
            continue
        questions = []
        for item in items:
            name = str(item.get("id")) if isinstance(item, dict) else ""
            location = f"{place}, question {name}" if name not in ("", "None") else place
            try:
                question = _question_in(item, text, ids)
            except UnusableExample as error:
                skipped.skip_or_raise(error, location, name)
                continue
            if question is not None:
                questions.append(question)
            elif skip_unanswerable:
                skipped.add("without an answer", name)
            else:
                raise ConfigurationError(f"{location}: {UNANSWERABLE}")
        yield Paragraph(place, text, questions)
    skipped.log("questions")


def _paragraphs(lines: Iterable[Line], skipped: Skipped) -> Iterator[tuple[str, Any]]:
    """Yields the place of each paragraph, and the paragraph with its questions, as SQuAD has it."""
    lines = (line for line in lines if line.text.strip())
    for first in lines:
        skipped.file = first.file
        if detect_format(first) not in ("jsonl", "csv", "tsv"):
            raise first.error(
                f"expected SQuAD's JSON, JSON lines or a table, got {first.text.strip()!r:.60}; "
                f"write each question as a line {_SHAPE}"
            )
        records = parse_records(chain([first], lines), keep_marks=True)
        for number, (line, fields) in enumerate(records, start=1):
            if isinstance(paragraphs := fields.get("paragraphs"), list):
                title = fields.get("title")
                place = (
                    f"{line.file}, "
                    f"{title if title and isinstance(title, str) else f'article {number}'}"
                )
                yield from (
                    (f"{place}, paragraph {n}", each) for n, each in enumerate(paragraphs, start=1)
                )
                continue
            parts = fields["qas"] if isinstance(fields.get("qas"), list) else [{}]  # of CMRC
            questions = [
                _with_usual_names(fields | part) for part in parts if isinstance(part, dict)
            ]
            questions = [{"id": line.place} | question for question in questions]
            yield (
                line.location,
                {"context": (questions or [{}])[0].get("context"), "qas": questions},
            )


def _with_usual_names(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a question that are known, by the names that SQuAD has for them."""
    names = {name.lower(): name for name in reversed(fields)}
    found = {
        key: fields[names[name]]
        for key, usual in _USUAL.items()
        for name in reversed(usual)
        if name in names
    }
    return {key: value for key, value in found.items() if key != "id" or value is not None}


def _question_in(item: Any, paragraph: str, ids: set[str]) -> Question | None:
    """Returns the question, or `None` if it is unanswerable."""
    identifier = _get(item, "id", str | int)
    if str(identifier) in ids:
        raise UnusableExample(
            "with the id of an earlier one", "an earlier question has the same id"
        )
    ids.add(str(identifier))
    if item.get("is_impossible") is not None and _get(item, "is_impossible", bool):
        return None
    if _is_blank(question := _get(item, "question", str)):
        raise UnusableExample("that are blank", "the question is blank")
    return Question(
        identifier, question, [_answer_in(each, paragraph) for each in _answers(item, paragraph)]
    )


def _answers(question: dict[str, Any], paragraph: str) -> list[Any]:
    """Returns the answers as objects, whatever their shape."""
    answers, text, start = (question.get(key) for key in ("answers", "answer", "answer_start"))
    if answers is None and text is not None:
        if start is None and text:
            start = paragraph.find(str(text))
            if (number := paragraph.count(str(text))) > 1:
                message = (
                    f"the answer {text!r} is in the paragraph {number} times: expected "
                    '"answer_start"'
                )
                raise UnusableExample('without "answer_start"', message)
        if isinstance(start, str) and start.removesuffix(".0").isdecimal():
            start = int(start.removesuffix(".0"))
        return [{"text": text, "answer_start": start}]
    if isinstance(answers, str) and (lists := _LISTS.findall(answers)):  # of a table
        answers = {name: as_list(values) for name, values in lists}
    if not isinstance(answers, dict):
        items = [] if answers is None else _get({"answers": answers}, "answers", list)
        return [
            {"text": a, "answer_start": paragraph.find(a)} if isinstance(a, str) else a
            for a in items
        ]
    texts, starts = _get(answers, "text", list), _get(answers, "answer_start", list)
    if len(texts) != len(starts):
        message = f'expected an "answer_start" for each "text", got {len(starts)} for {len(texts)}'
        raise UnusableExample('with malformed "answers"', message)
    return [
        {"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)
    ]


def _answer_in(answer: Any, paragraph: str) -> Answer:
    text, start = _get(answer, "text", str), _get(answer, "answer_start", int)
    if _is_blank(text):
        raise UnusableExample("with a blank answer", "an answer is blank")
    margin, text = _TRIMMED.fullmatch(text).groups()  # type: ignore[union-attr]
    spaced, sought = _SPACE.sub(" ", paragraph), _SPACE.sub(" ", text)
    for place in (start + len(margin), start):  # a byte order mark of the answer may not count
        if place >= 0 and spaced.startswith(sought, place):
            return Answer(text, place)
    found, place = paragraph[max(0, start) :][: len(text)], spaced.find(sought)
    raise UnusableExample(
        f"with an answer that is not {'in the paragraph' if place < 0 else 'at its answer_start'}",
        f"the answer {text!r} is not at its answer_start, {start}: found {found!r}; it is "
        + ("nowhere in the paragraph" if place < 0 else f"at {place}"),
    )


def _is_blank(text: str) -> bool:
    return not normalize_text(text).strip()


def _get(value: Any, key: str, kind: Any) -> Any:
    """Returns the value of a key, after checking its kind."""
    if not isinstance(value, dict):
        raise UnusableExample(
            "that are malformed",
            f"expected a JSON object, got {json.dumps(value, ensure_ascii=False):.60}",
        )
    item = value.get(key)
    if not isinstance(item, kind) or isinstance(item, bool) != (kind is bool):
        message = (
            f'expected {_KINDS[kind]} as "{key}", got {json.dumps(item, ensure_ascii=False):.60}'
        )
        raise UnusableExample(f'with a malformed "{key}"', message)
    return item
