"""The inputs of a predictor from a command line, and from files."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import is_special
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.not_sentences import BETWEEN_TABS, kind_of_data
from elmo_plugin.common.formats.text_files import (
    compression,
    decode,
    read_lines,
    standard_input_lines,
)
from elmo_plugin.common.logs import get_logger, silence
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.predictions.inputs import Input, input_of_texts, is_question_first

logger = get_logger(__name__)

_OBJECT = re.compile(r'\s*\{\s*("|\}|$)')  # JSON, unlike "{Anna} left"
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_TABLE_SUFFIXES = (".csv", ".xlsx", ".xlsm", ".parquet", ".arrow", ".feather")
_COLUMN_SUFFIXES = (".conll", ".conllu", ".conllup")
_SNIFFED_LINES = 20  # how many lines are read to find the form of a file


def inputs_of(texts: Sequence[str], task: TaskCard) -> Iterator[Input]:
    """
    Yields the inputs that a command line names: a file, standard input, texts, or a JSON object.
    Beside a question, a whole file is the passage. After a passage, each line of a file is a
    question about it.
    """
    files = [text for text in texts if text == "-" or os.path.exists(text)]
    asks_about_passage = len(texts) == 2 and "question" in task.text_names
    if len(texts) == 1 and files:
        yield from read_inputs(texts[0], task)
    elif len(texts) == 1 and _OBJECT.match(texts[0]):
        yield Input("TEXT", parse_json(texts[0], "TEXT", is_line=True))
    elif files and not asks_about_passage:
        raise BiLmError(f"TEXT: {files[0]} is a file; its lines are read if it is the only TEXT")
    elif files:
        yield from _inputs_about_passage(texts, files, task)
    else:
        yield Input("TEXT", input_of_texts(task, texts))


def _inputs_about_passage(
    texts: Sequence[str], files: Sequence[str], task: TaskCard
) -> Iterator[Input]:
    """
    Yields the inputs of a passage and its questions. One or both are in files: a passage is a whole
    file, and questions are the lines of a file, except for a single one that is typed.
    """
    first, last = texts
    if len(files) == 1:
        contents = [_content(text) if text in files else text for text in texts]
        # The typed question may come after the passage's file, or before it.
        is_passage_last = first not in files and is_question_first(task, contents)
        if first in files or is_passage_last:
            yield Input("TEXT", input_of_texts(task, contents))
            return
    # What is left is a passage, typed or in a file, and after it a file of questions.
    passage = _content(first) if first in files else first
    num_questions = 0
    for number, line in enumerate(_lines(last), start=1):
        question = decode(line, f"{last}, line {number}").strip()
        if question:
            num_questions += 1
            values = dict(zip(task.text_names, [passage, question], strict=True))
            yield Input(f"{last}, line {number}", values, number)
    if not num_questions:
        raise BiLmError(f"{last}: expected a question in each line, got only blank lines")


def count_inputs(texts: Sequence[str], task: TaskCard) -> int | None:
    """
    Returns the number of inputs that a command line names, and raises `BiLmError` for a mistake in
    any of them, so that it is found before the first prediction. Returns `None` for what can be
    read only once, such as a pipe.
    """
    if any(text == "-" or is_special(text) for text in texts):
        return None
    with silence():  # warnings come when they are read again
        return sum(1 for _ in inputs_of(texts, task))


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
    Yields the inputs of a file or of standard input, `-`, plain or in .gz or .zst. Each line is a
    text, or the texts of the task between tabs, or a JSON object as `allennlp predict` reads. Blank
    lines, and a first line that names the texts, are left out. A file may also be a table with a
    column of texts, or columns with a word in each row, with or without tags.

    Raises `BiLmError`, naming file and line, for any other line, and if there is none.
    """
    name = "standard input" if str(path) == "-" else str(path)
    suffix = Path(name.removesuffix(compression(name))).suffix.lower()
    form = ""
    # Standard input and pipes can be read only once, so they always have lines.
    if str(path) != "-" and not is_special(path):
        form = _form_of_file(name, suffix, task)
    if form:
        # Imported here, because pandas takes a moment to import.
        from elmo_plugin.predictions.tables import inputs_of_columns, inputs_of_table

        read = inputs_of_table if form == "table" else inputs_of_columns
        yield from read(name, task)
        return
    has_tabs = len(task.texts) > 1 or suffix == ".tsv"
    num_inputs = 0
    num_exchanged = 0
    for number, line in enumerate(_lines(str(path)), start=1):
        place = f"{name}, line {number}"
        text = decode(line, place).rstrip("\r\n")
        if not normalize_text(text).strip():
            continue
        texts = text.split("\t") if has_tabs else [text]
        if number == 1 and _are_names(texts, task):
            continue  # a header
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


def _form_of_file(name: str, suffix: str, task: TaskCard) -> str:
    """
    Returns "table" or "columns" for files that have a text or a word in each row, and nothing for
    those with a text in each line. Raises `BiLmError` for files that plainly have neither.
    """
    takes_sentences = task.text_names == ["sentence"]
    if suffix in _TABLE_SUFFIXES:
        return "table"
    if suffix in _COLUMN_SUFFIXES and not takes_sentences:
        names = " and ".join(task.text_names)
        raise BiLmError(f"{name}: expected {names} in each line, got {suffix}")
    if suffix in _COLUMN_SUFFIXES:
        return "columns"
    if suffix in _JSON_SUFFIXES:
        return ""
    first = []
    for line in islice(_lines(name), _SNIFFED_LINES):
        first.append(line.decode("utf-8", "ignore").strip("\r\n"))
    if len(task.texts) > 1:
        # Lines with the task's texts between tabs are read as lines. With further columns they are
        # a table, whose header says which columns are the texts.
        has_more_columns = bool(first) and first[0].count("\t") >= len(task.texts)
        return "table" if has_more_columns and suffix == ".tsv" else ""
    kind = kind_of_data(first)
    if not kind or kind == "JSON":
        return ""
    if kind.startswith("columns") and takes_sentences:
        # A cell with a space is a text, not a word.
        num_with_space = sum(" " in line for line in first)
        has_texts = num_with_space > len(first) / 2
        return "table" if kind == BETWEEN_TABS and has_texts else "columns"
    if kind == BETWEEN_TABS:
        return "table"
    raise BiLmError(f"{name}: expected a text in each line, got {kind}")


def _parse_object(text: str, place: str, task: TaskCard) -> dict[str, Any]:
    """Returns the JSON object of a line. Raises `BiLmError` for others, and for SQuAD's files."""
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
    """Returns whether these are the names of the task's texts, as in the head of a table."""
    names = [task.usual_name(text.lower()) for text in texts]
    return names == task.text_names
