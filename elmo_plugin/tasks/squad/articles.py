"""Paragraphs with questions and answers, from the JSON of SQuAD."""

import json
import logging
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines

logger = logging.getLogger(__name__)


class Answer(NamedTuple):
    """A text, and the index of its first character in the paragraph."""

    text: str
    start: int


class Question(NamedTuple):
    """A question, and all answers that people gave, with repetitions."""

    id: str
    text: str
    answers: list[Answer]


class Paragraph(NamedTuple):
    """A paragraph and its questions."""

    location: str  # the file, the title of the article, and the number of the paragraph in it
    text: str
    questions: list[Question]


def read_squad(
    path: str | os.PathLike[str], *, repair_offsets: bool = False, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """
    Reads the JSON of SQuAD 1.1: articles, their paragraphs, and questions with any answers.

    If an answer is not at its `answer_start`, `repair_offsets` searches for the nearest place. For SQuAD 2.0,
    `skip_unanswerable` skips the questions without an answer. The log has the numbers of both.

    Raises `ConfigurationError`, naming the file and, if known, the line, article and question, if the file is
    not JSON or has another shape, an answer is not at its place, or a question is unanswerable or has the id
    of an earlier one.
    """
    options = {"repair_offsets": repair_offsets, "skip_unanswerable": skip_unanswerable}
    yield from parse_squad(read_text_lines(str(path)), **options)


def parse_squad(
    lines: Iterable[Line], *, repair_offsets: bool = False, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """Yields the paragraphs of the lines of a file, see `read_squad`."""
    lines = list(lines)
    if not lines:
        return
    file = lines[0].file
    with as_configuration_error():
        content = parse_json("".join(line.text for line in lines), file)
    parser = _SquadParser(repair_offsets, skip_unanswerable)
    for number, article in enumerate(_get(content, "data", list, file), start=1):
        title = _get(article, "title", str, f"{file}, article {number}") or f"article {number}"
        paragraphs = _get(article, "paragraphs", list, f"{file}, {title}")
        for index, paragraph in enumerate(paragraphs, start=1):
            yield parser.parse(paragraph, f"{file}, {title}, paragraph {index}")
    if parser.repaired:
        logger.info("%s: repaired the answer_start of %d answers", file, parser.repaired)
    if parser.skipped:
        logger.info("%s: skipped %d questions without an answer", file, parser.skipped)


class _SquadParser:
    """Parses paragraphs, and counts repaired answers and skipped questions."""

    def __init__(self, repair_offsets: bool, skip_unanswerable: bool) -> None:
        self._repair_offsets = repair_offsets
        self._skip_unanswerable = skip_unanswerable
        self._ids: set[str] = set()
        self.repaired = 0
        self.skipped = 0

    def parse(self, paragraph: Any, location: str) -> Paragraph:
        """Returns a paragraph of the file, checked."""
        text = _get(paragraph, "context", str, location)
        if not text.strip():
            raise ConfigurationError(f"{location}: the paragraph is empty")
        questions = []
        for item in _get(paragraph, "qas", list, location):
            identifier = _get(item, "id", str, location)
            place = f"{location}, question {identifier}"
            if identifier in self._ids:
                raise ConfigurationError(f"{place}: an earlier question has the same id")
            self._ids.add(identifier)
            if item.get("is_impossible"):
                self._check_unanswerable(place)
                continue
            answers = _get(item, "answers", list, place) if "answers" in item else []
            answers = [self._parse_answer(answer, text, place) for answer in answers]
            question = _get(item, "question", str, place)
            if not question.strip():
                raise ConfigurationError(f"{place}: the question is empty")
            questions.append(Question(identifier, question, answers))
        return Paragraph(location, text, questions)

    def _check_unanswerable(self, location: str) -> None:
        if not self._skip_unanswerable:
            raise ConfigurationError(
                f"{location}: SQuAD 2.0's unanswerable questions are not part of this task; "
                "skip_unanswerable skips them"
            )
        self.skipped += 1

    def _parse_answer(self, answer: Any, paragraph: str, location: str) -> Answer:
        text = _get(answer, "text", str, location)
        start = _get(answer, "answer_start", int, location)
        if not text.strip():
            raise ConfigurationError(f"{location}: an answer is empty")
        if start >= 0 and paragraph[start : start + len(text)] == text:
            return Answer(text, start)
        places = _places(paragraph, text)
        if self._repair_offsets and places:
            self.repaired += 1
            return Answer(text, min(places, key=lambda place: abs(place - start)))
        raise ConfigurationError(
            f"{location}: the answer {text!r} is not at its answer_start, {start}: found "
            f"{paragraph[max(0, start) :][: len(text)]!r}; {_advice(paragraph, start, places)}"
        )


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


def _get(value: Any, key: str, kind: type, location: str) -> Any:
    """Returns the value of a key, after checking its kind."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{location}: expected a JSON object, got {_short(value)}")
    item = value.get(key)
    if not isinstance(item, kind) or isinstance(item, bool):
        names = {list: "a list", str: "text", int: "a number"}
        raise ConfigurationError(f'{location}: expected {names[kind]} as "{key}", got {_short(item)}')
    return item


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
