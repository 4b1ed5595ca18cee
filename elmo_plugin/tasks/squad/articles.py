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
    """
    text: the words of the answer, as they are in the paragraph
    start: the index of its first character in the paragraph
    """

    text: str
    start: int


class Question(NamedTuple):
    """
    id: as in the file
    text: the question
    answers: all answers that people gave, which may repeat; empty if the file has no answers
    """

    id: str
    text: str
    answers: list[Answer]


class Paragraph(NamedTuple):
    """
    location: the file, the title of the article, and the number of the paragraph in it
    text: the paragraph
    questions: those about it
    """

    location: str
    text: str
    questions: list[Question]


def read_squad(
    path: str | os.PathLike[str], *, repair_offsets: bool = False, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """
    Reads the JSON of SQuAD 1.1: articles, their paragraphs, and questions with answers.

    # Parameters

    path : `str | PathLike`
        A UTF-8 file, which is compressed where its name ends in `.gz` or `.zst`.
    repair_offsets : `bool`, optional (default = `False`)
        Whether an answer that is not where `answer_start` says is searched for, and taken where it is
        nearest. The log says how many there are.
    skip_unanswerable : `bool`, optional (default = `False`)
        Whether the questions of SQuAD 2.0 that have no answer are left out. The log says how many.

    # Returns

    `Iterator[Paragraph]`
        The paragraphs of all articles. A question has no answers only where the file has none for it.

    Raises `ConfigurationError`, naming the file and, where known, the line, article and question, where
    the file is not JSON or has another shape, an answer is not where it should be, and where a question is
    unanswerable or has the id of an earlier one.
    """
    options = {"repair_offsets": repair_offsets, "skip_unanswerable": skip_unanswerable}
    yield from parse_squad(read_text_lines(str(path)), **options)


def parse_squad(
    lines: Iterable[Line], *, repair_offsets: bool = False, skip_unanswerable: bool = False
) -> Iterator[Paragraph]:
    """Yields the paragraphs of the lines of a file, see `read_squad`. An empty file has none."""
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
        logger.info("%s: %d answers were not at their answer_start, and found", file, parser.repaired)
    if parser.skipped:
        logger.info("%s: %d questions without an answer are left out", file, parser.skipped)


class _SquadParser:
    """Parses paragraphs, and counts what it repaired and left out."""

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
        for each in _get(paragraph, "qas", list, location):
            identifier = _get(each, "id", str, location)
            of_question = f"{location}, question {identifier}"
            if identifier in self._ids:
                raise ConfigurationError(f"{of_question}: an earlier question has the same id")
            self._ids.add(identifier)
            if each.get("is_impossible"):
                self._check_unanswerable(of_question)
                continue
            found = _get(each, "answers", list, of_question) if "answers" in each else []
            answers = [self._parse_answer(answer, text, of_question) for answer in found]
            question = _get(each, "question", str, of_question)
            if not question.strip():
                raise ConfigurationError(f"{of_question}: the question is empty")
            questions.append(Question(identifier, question, answers))
        return Paragraph(location, text, questions)

    def _check_unanswerable(self, location: str) -> None:
        if not self._skip_unanswerable:
            raise ConfigurationError(
                f"{location}: SQuAD 2.0's unanswerable questions are not part of this task; leave them out "
                "by skip_unanswerable"
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
            f"{location}: the answer {text!r} is not at its answer_start, {start}, where the paragraph has "
            f"{paragraph[max(0, start) :][: len(text)]!r}; {_advice(paragraph, start, places)}"
        )


def _places(paragraph: str, text: str) -> list[int]:
    """Returns where the text begins in the paragraph, as often as it is there."""
    places, start = [], paragraph.find(text)
    while start >= 0:
        places.append(start)
        start = paragraph.find(text, start + 1)
    return places


def _advice(paragraph: str, start: int, places: list[int]) -> str:
    """Returns what may be wrong, and what to do."""
    if not places:
        return "it is nowhere in the paragraph"
    for unit, encoding, size in (("UTF-16 units", "utf-16-le", 2), ("UTF-8 bytes", "utf-8", 1)):
        if any(len(paragraph[:place].encode(encoding)) == start * size for place in places):
            return f"this one seems to count {unit}, not characters; repair_offsets searches for it"
    return "repair_offsets searches for it"


def _get(value: Any, key: str, kind: type, location: str) -> Any:
    """Returns the value of a key, of the expected kind."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{location}: expected a JSON object, not {_short(value)}")
    found = value.get(key)
    if not isinstance(found, kind) or isinstance(found, bool):
        names = {list: "a list", str: "text", int: "a number"}
        missing = "there is none" if found is None else f"not {_short(found)}"
        raise ConfigurationError(f'{location}: expected {names[kind]} as "{key}", {missing}')
    return found


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
