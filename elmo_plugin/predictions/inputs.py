"""Makes the inputs of a predictor from texts in Python, on a command line or in files."""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError, as_words
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import (
    compression,
    decode,
    read_lines,
    standard_input_lines,
)
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.common.typography import normalize_text

logger = logging.getLogger(__name__)

# How a JSON object begins, unlike a text such as "{Anna} left".
_OBJECT = re.compile(r'\s*\{\s*("|\}|$)')
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_TABLE_SUFFIXES = (".csv", ".conll", ".conllu")
# What may follow the question mark of a question.
_CLOSING = " \t\r\n\"'”’)"  # noqa: RUF001
_QUESTION = re.compile(rf"[^?!？！]*[?？][{_CLOSING}]*")  # noqa: RUF001
_QUESTION_MARKS = ("?", "\uff1f")


class Input(NamedTuple):
    """What AllenNLP's predictor reads, with its place for messages, and its line in a file."""

    place: str
    values: dict[str, Any]
    line: int | None = None


def input_of_texts(task: TaskCard, texts: Sequence[str], place: str = "") -> dict[str, Any]:
    """
    Returns the predictor's input for the texts of a task. If the question comes before its passage,
    the two are exchanged, with a warning. Raises `BiLmError`, beginning with `place`, for another
    number of texts than the task has.
    """
    names = task.text_names
    if len(texts) != len(names):
        got = f"{len(texts)} texts"
        if len(texts) == 1:
            got = "1 text"
        raise BiLmError(f"{place or task.title}: expected {' and '.join(names)}, got {got}")
    if is_question_first(task, texts):
        warning = "the first text is the question, so the two are exchanged"
        if place:
            warning = f"{place}: {warning}"
        logger.warning("%s", warning)
        texts = list(reversed(texts))
    return dict(zip(names, texts, strict=True))


def is_question_first(task: TaskCard, texts: Sequence[str]) -> bool:
    """Returns whether the first text is a single question, and the second its longer passage."""
    first = texts[0]
    last = texts[-1]
    if "question" not in task.text_names or len(first) >= len(last):
        return False
    if last.rstrip(_CLOSING).endswith(_QUESTION_MARKS):
        return False
    return _QUESTION.fullmatch(first) is not None


def input_of_item(task: TaskCard, item: Any, place: str) -> dict[str, Any]:
    """
    Returns the predictor's input for a text, a list of words or, if the task has several texts, a
    list of these. A dictionary is an input already. Raises `BiLmError`, beginning with `place`, for
    anything else.
    """
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, str):
        return input_of_texts(task, [str(item)], place)
    names = task.text_names
    if len(names) > 1:
        several_texts = as_words(item, place, " and ".join(names))
        return input_of_texts(task, several_texts, place)
    words = as_words(item, place, "a text or a list of words")
    if "document" in names:
        return {"sentences": [words]}
    return {"words": words}


def inputs_of(texts: Sequence[str], task: TaskCard) -> Iterator[Input]:
    """
    Yields the inputs that the arguments of a command name: a file, standard input, texts, or a JSON
    object. If one argument is a file and the other a question, the whole file is the passage.
    """
    files = [text for text in texts if text == "-" or os.path.exists(text)]
    is_passage = len(texts) == 2 and len(files) == 1 and "question" in task.text_names
    if len(texts) == 1 and files:
        yield from read_inputs(texts[0], task)
    elif len(texts) == 1 and _OBJECT.match(texts[0]):
        yield Input("TEXT", parse_json(texts[0], "TEXT", is_line=True))
    elif files and not is_passage:
        raise BiLmError(f"TEXT: {files[0]} is a file; its lines are read if it is the only TEXT")
    else:
        contents = [_content(text) if text in files else text for text in texts]
        yield Input("TEXT", input_of_texts(task, contents))


def _lines(path: str) -> Iterable[bytes]:
    """Returns the lines of a file, or of standard input, `-`."""
    if path == "-":
        return standard_input_lines()
    return read_lines(path)


def _content(path: str) -> str:
    """Returns the text of a whole file, or of standard input, `-`."""
    return "".join(decode(line, path) for line in _lines(path)).strip()


def read_inputs(path: str | Path, task: TaskCard) -> Iterator[Input]:
    """
    Yields the inputs in a file, which may be compressed as .gz or .zst, or in standard input, `-`.
    Each line is a text, or the texts of the task with tabs between them, or a JSON object as
    `allennlp predict` reads it. Blank lines are skipped, and so is a first line that has the names
    of the texts.

    Raises `BiLmError`, naming file and line, for any other line, or if no line has a text.
    """
    name = "standard input" if str(path) == "-" else str(path)
    suffix = Path(name.removesuffix(compression(name))).suffix.lower()
    if suffix in _TABLE_SUFFIXES:
        raise BiLmError(
            f"{name}: expected a text in each line, texts between tabs, or JSON lines, got {suffix}"
        )
    has_tabs = len(task.texts) > 1 or suffix == ".tsv"
    num_inputs = 0
    num_exchanged = 0
    for number, line in enumerate(_lines(str(path)), start=1):
        place = f"{name}, line {number}"
        text = decode(line, place).rstrip("\r\n")
        if not normalize_text(text).strip():
            continue
        texts = [text]
        if has_tabs:
            texts = text.split("\t")
        if number == 1 and _are_names(texts, task):
            continue
        if suffix in _JSON_SUFFIXES or _OBJECT.match(text):
            values = _parse_object(text, place, task)
        else:
            _check_number_of_texts(texts, place, task)
            if is_question_first(task, texts):
                num_exchanged += 1
                texts.reverse()
            values = input_of_texts(task, texts)
        num_inputs += 1
        yield Input(place, values, number)
    if num_exchanged:
        logger.warning(
            "%s: lines that begin with the question are exchanged: %d", name, num_exchanged
        )
    if not num_inputs:
        raise BiLmError(f"{name}: expected a text, got only blank lines")


def _parse_object(text: str, place: str, task: TaskCard) -> dict[str, Any]:
    """Returns the JSON object of a line. Raises `BiLmError` if it is none, or a file of SQuAD."""
    if not _OBJECT.match(text):
        raise BiLmError(f"{place}: expected a JSON object in each line, got {text!r:.60}")
    values = parse_json(text, place, is_line=True)
    if "question" in task.text_names and isinstance(values.get("data"), list):
        raise BiLmError(
            f"{place}: expected a passage and a question, got SQuAD's JSON; use --squad"
        )
    return values


def _check_number_of_texts(texts: Sequence[str], place: str, task: TaskCard) -> None:
    """Raises `BiLmError` if a line does not have the texts of the task."""
    if len(texts) != len(task.texts):
        names = " and ".join(task.text_names)
        raise BiLmError(f"{place}: expected {names}, with tabs between texts, or JSON")


def _are_names(texts: Sequence[str], task: TaskCard) -> bool:
    """Returns whether a line has the names of the task's texts, as the header of a table has."""
    names = [task.usual_name(text.lower()) for text in texts]
    return names == task.text_names
