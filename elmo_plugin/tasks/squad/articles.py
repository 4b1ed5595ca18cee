"""Paragraphs with questions and answers, from the JSON of SQuAD, JSON lines or tables."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.records import Record, Skipped, UnusableExample, as_list, detect_format, parse_records

_SHAPE = '{"id": …, "context": …, "question": …, "answers": {"text": […], "answer_start": […]}}'
_USUAL = {  # names of the fields of a table or of JSON lines, in lower case
    "context": ("context", "passage", "paragraph", "context_text"),
    "answer": ("answer", "answer_text", "text"),
    "answer_start": ("answer_start", "start"),
    "question": ("question", "query_text"),
    "answers": ("answers", "answer_pivot"),
    "is_impossible": ("is_impossible",),
    "id": ("id", "query_id"),
}
_SPACE = re.compile(r"\s")  # one character for one, no-break spaces included
_TRIMMED = re.compile(r"([\s\ufeff\u200b\u2060]*)(.*?)[\s\ufeff\u200b\u2060]*", re.DOTALL)
_KINDS = {list: "a list", str: "text", int: "a number", str | int: "text", bool: "true or false"}

_LISTS = re.compile(r"""["'](text|answer_start)["']: *(?:array\()?(\[[^\]]*\])""")

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

    skip_unanswerable: skip the questions of SQuAD 2.0 without an answer
    skip_bad: skip the questions that cannot be used
    """

    skip_unanswerable: bool = False
    skip_bad: bool = False


def read_squad(path: str | os.PathLike[str], **options: bool) -> Iterator[Paragraph]:
    """
    Reads the JSON of SQuAD 1.1: articles, their paragraphs, and questions with any answers; or JSON lines,
    each a question with its `context`, as Hugging Face's data sets have them; or a table (CSV, TSV) with the
    columns `context`, `question`, `answer`, `answer_start` and maybe `id`. An answer that is in its context
    only once needs no `answer_start`.

    Raises `ConfigurationError`, naming the file and, if known, the line, article and question, if the file is
    not JSON or has another shape, an answer is not at its place, or a question is unanswerable or has the id
    of an earlier one.
    """
    chosen = SquadOptions(**options)
    yield from parse_squad(read_text_lines(str(path), keep_marks=True), chosen, Skipped(chosen.skip_bad))


def parse_squad(lines: Iterable[Line], options: SquadOptions, skipped: Skipped) -> Iterator[Paragraph]:
    """Yields the paragraphs of the lines of a file, and logs the skipped ones in the end."""
    lines = [line for line in lines if line.text.strip()]
    if not lines:
        return
    skipped.file = lines[0].file
    parser = _SquadParser(options, skipped)
    for location, paragraph in _paragraphs(lines):
        try:
            parsed = parser.parse(paragraph, location)
        except UnusableExample as error:
            skipped.skip_or_raise(error, location, location)
        else:
            yield parsed
    skipped.log("questions")


def _paragraphs(lines: list[Line]) -> Iterator[tuple[str, Any]]:
    """Yields the location of each paragraph, and the paragraph as SQuAD has it."""
    first = lines[0]
    if (content := _whole_object(lines)) is None:
        if detect_format(first) not in ("jsonl", "csv", "tsv"):
            raise ConfigurationError(
                f"{first.location}: expected SQuAD's JSON, JSON lines or a table, got "
                f"{first.text.strip()!r:.60}; write each question as a line {_SHAPE}"
            )
        for record in parse_records(lines, keep_marks=True):
            line, fields = record
            parts = fields["qas"] if isinstance(fields.get("qas"), list) else [{}]  # of CMRC
            questions = [_question_in((line, fields | part)) for part in parts if isinstance(part, dict)]
            yield (
                line.location,
                {"context": questions[0].get("context") if questions else None, "qas": questions},
            )
        return
    place = first.file
    try:
        for number, article in enumerate(_get(content, "data", list), start=1):
            title = article.get("title") if isinstance(article, dict) else None
            place = f"{first.file}, {title if title and isinstance(title, str) else f'article {number}'}"
            for index, paragraph in enumerate(_get(article, "paragraphs", list), start=1):
                yield f"{place}, paragraph {index}", paragraph
    except UnusableExample as error:
        raise ConfigurationError(f"{place}: {error}") from None


def _whole_object(lines: list[Line]) -> dict[str, Any] | None:
    """Returns the JSON object that a file is, unless it is one question or several records."""
    first = lines[0].text.strip()
    if not first.startswith("{"):
        return None
    try:
        content = parse_json("".join(line.text for line in lines), lines[0].file)
    except BiLmError as error:
        if len(lines) > 1 and first.endswith("}"):
            return None
        raise ConfigurationError(str(error)) from None
    return None if "question" in content else content


def _question_in(record: Record) -> dict[str, Any]:
    """Returns the question of a record, as SQuAD has it."""
    line, fields = record
    names = {name.lower(): name for name in reversed(fields)}
    found = {
        key: fields[names[name]] for key, usual in _USUAL.items() for name in reversed(usual) if name in names
    }
    answer, start, context = found.pop("answer", None), found.pop("answer_start", None), found.get("context")
    if answer is not None and "answers" not in found:
        if start is None and isinstance(context, str) and context.count(str(answer)) == 1:
            start = context.index(str(answer))
        if isinstance(start, str) and start.isdecimal():
            start = int(start)
        found["answers"] = [{"text": answer, "answer_start": start}]
    if isinstance(fields.get("answer_pivot"), dict):  # of AfriQA, beside answers in another language
        found["answers"] = fields["answer_pivot"]
    answers = found.get("answers")
    if isinstance(answers, str) and (lists := _LISTS.findall(answers)):  # of a table
        found["answers"] = {name: as_list(values) for name, values in lists}
    elif isinstance(answers, list) and isinstance(context, str):
        places = [isinstance(text, str) and context.find(text) for text in answers]
        found["answers"] = [
            text if place is False else {"text": text, "answer_start": place}
            for text, place in zip(answers, places, strict=True)
        ]
    return found | {"id": line.place if found.get("id") is None else found["id"]}


class _SquadParser:
    """Parses paragraphs, and counts skipped questions."""

    def __init__(self, options: SquadOptions, skipped: Skipped) -> None:
        self._options = options
        self._skipped = skipped
        self._ids: set[str] = set()

    def parse(self, paragraph: Any, location: str) -> Paragraph:
        """Returns a paragraph of the file, checked."""
        text = _get(paragraph, "context", str)
        if _is_blank(text):
            raise UnusableExample("about a blank paragraph", "the paragraph is blank")
        questions = []
        for item in _get(paragraph, "qas", list):
            name = str(item.get("id")) if isinstance(item, dict) else ""
            place = f"{location}, question {name}" if name not in ("", "None") else location
            try:
                question = self._parse_question(item, text)
            except UnusableExample as error:
                self._skipped.skip_or_raise(error, place, name)
                continue
            if question is not None:
                questions.append(question)
            elif self._options.skip_unanswerable:
                self._skipped.add("without an answer", name)
            else:
                raise ConfigurationError(f"{place}: {UNANSWERABLE}")
        return Paragraph(location, text, questions)

    def _parse_question(self, item: Any, paragraph: str) -> Question | None:
        """Returns the question, or `None` if it is unanswerable."""
        identifier = _get(item, "id", str | int)
        if str(identifier) in self._ids:
            raise UnusableExample("with the id of an earlier one", "an earlier question has the same id")
        self._ids.add(str(identifier))
        if item.get("is_impossible") is not None and _get(item, "is_impossible", bool):
            return None
        if _is_blank(question := _get(item, "question", str)):
            raise UnusableExample("that are blank", "the question is blank")
        return Question(identifier, question, [self._parse_answer(a, paragraph) for a in _answers(item)])

    def _parse_answer(self, answer: Any, paragraph: str) -> Answer:
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


def _get(value: Any, key: str, kind: Any) -> Any:
    """Returns the value of a key, after checking its kind."""
    if not isinstance(value, dict):
        raise UnusableExample(
            "that are malformed", f"expected a JSON object, got {json.dumps(value, ensure_ascii=False):.60}"
        )
    item = value.get(key)
    if not isinstance(item, kind) or isinstance(item, bool) != (kind is bool):
        message = f'expected {_KINDS[kind]} as "{key}", got {json.dumps(item, ensure_ascii=False):.60}'
        raise UnusableExample(f'with a malformed "{key}"', message)
    return item
