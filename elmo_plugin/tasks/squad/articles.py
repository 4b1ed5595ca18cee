"""Paragraphs with questions and answers, from the JSON of SQuAD 1.1."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.tasks.dataset_reader import Line

_FORMAT_HINT = (
    'the file must be in SQuAD 1.1\'s JSON, {"data": [{"paragraphs": [{"context": …, "qas": '
    '[{"id": …, "question": …, "answers": [{"text": …, "answer_start": …}]}]}]}]}, and `elmo '
    "import squad` makes such a file of other forms"
)
_NAMES_OF_KINDS = {list: "a list", str: "text", int: "a number", str | int: "text or a number"}


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

    location: str  # the file, the title of the article, and the number of the paragraph in it
    text: str
    questions: list[Question]


def parse_squad(lines: Iterable[Line]) -> Iterator[Paragraph]:
    """
    Yields the paragraphs of all articles in the JSON of SQuAD 1.1, each with its questions. The
    questions may be without answers, in a file for predictions.

    Raises `ConfigurationError` if the file has another shape, something is blank, an answer is not
    at its place, or a question is unanswerable or has the id of an earlier one. The message names
    the file and, if known, the article, the paragraph and the question.
    """
    lines = list(lines)
    if not lines:  # nothing to parse, and no file to name in an error
        return
    file = lines[0].file  # the same for all lines
    try:
        content = parse_json("".join(line.text for line in lines), file)
    except BiLmError as error:
        raise ConfigurationError(f"{error}; {_FORMAT_HINT}") from None
    seen_ids: set[str] = set()  # of the questions of the file
    for article_number, article in enumerate(_get(content, "data", list, file), start=1):
        place = f"{file}, {_article_name(article, article_number)}"
        paragraphs = _get(article, "paragraphs", list, place)
        for paragraph_number, paragraph in enumerate(paragraphs, start=1):
            yield _parse_paragraph(paragraph, f"{place}, paragraph {paragraph_number}", seen_ids)


def _article_name(article: Any, number: int) -> str:
    """Returns the title of an article or, without a title, a name such as "article 1"."""
    title = None
    if isinstance(article, dict):
        title = article.get("title")
    if isinstance(title, str) and title:
        return title
    return f"article {number}"


def _parse_paragraph(paragraph: Any, place: str, seen_ids: set[str]) -> Paragraph:
    """
    Parses a paragraph with its questions. Raises `ConfigurationError` if the id of a question is
    among the `seen_ids` of earlier ones. Otherwise the id is added to them.
    """
    text = _get(paragraph, "context", str, place)
    if is_blank(text):
        raise ConfigurationError(f"{place}: the paragraph is blank; {_FORMAT_HINT}")
    questions = []
    for item in _get(paragraph, "qas", list, place):
        question = _parse_question(item, text, place)
        if str(question.id) in seen_ids:
            raise ConfigurationError(
                f"{place}, question {question.id}: an earlier question has the same id; "
                f"{_FORMAT_HINT}"
            )
        seen_ids.add(str(question.id))
        questions.append(question)
    return Paragraph(place, text, questions)


def _parse_question(item: Any, paragraph: str, place: str) -> Question:
    """
    Parses a question with its answers, if it has any. `paragraph` is the text in which they must
    be.
    """
    identifier = _get(item, "id", str | int, place)
    place = f"{place}, question {identifier}"
    if item.get("is_impossible"):  # as in SQuAD 2.0
        raise ConfigurationError(
            f"{place}: is_impossible is {json.dumps(item['is_impossible'])}, but SQuAD 1.1 has no "
            f"unanswerable questions; {_FORMAT_HINT}, without them"
        )
    text = _get(item, "question", str, place)
    if is_blank(text):
        raise ConfigurationError(f"{place}: the question is blank; {_FORMAT_HINT}")
    answers = []
    if "answers" in item:
        for answer in _get(item, "answers", list, place):
            answers.append(_parse_answer(answer, paragraph, place))
    return Question(identifier, text, answers)


def _parse_answer(item: Any, paragraph: str, place: str) -> Answer:
    """Parses an answer. Raises `ConfigurationError` if it is not at its place in the paragraph."""
    text = _get(item, "text", str, place)
    start = _get(item, "answer_start", int, place)
    if is_blank(text):
        raise ConfigurationError(f"{place}: an answer is blank; {_FORMAT_HINT}")
    if start < 0 or not paragraph.startswith(text, start):
        raise ConfigurationError(
            f"{place}: the answer {text!r} is not at its answer_start, {start}; {_FORMAT_HINT}"
        )
    return Answer(text, start)


def is_blank(text: str) -> bool:
    """Returns whether a text has nothing but white space and marks that are not shown."""
    return not normalize_text(text).strip()


def _get(parent: Any, key: str, kind: Any, place: str) -> Any:
    """
    Returns the value of a key of a JSON object. Raises `ConfigurationError` if the parent is not an
    object, or the value is not of a `kind`: one of the types in `_NAMES_OF_KINDS`.
    """
    if not isinstance(parent, dict):
        raise _error_for_value(parent, key, kind, place)
    value = parent.get(key)
    # In Python, `True` is an instance of `int`. In JSON, it is no number.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _error_for_value(value, key, kind, place)
    return value


def _error_for_value(found: Any, key: str, kind: Any, place: str) -> ConfigurationError:
    """Returns the error that a key has the value `found`, which is not of the expected kind."""
    shown = json.dumps(found, ensure_ascii=False)
    return ConfigurationError(
        f'{place}: expected {_NAMES_OF_KINDS[kind]} as "{key}", got {shown:.60}; {_FORMAT_HINT}'
    )
