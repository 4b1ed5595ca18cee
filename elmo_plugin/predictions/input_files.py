"""
The inputs of a predictor from a command line, and from files.

A file has one of three forms (`Form`), here for a task whose input is a sentence:

    LINES    Ada moved to Lisbon.       a text in each line, or an object of JSON
    TABLE    id,text                    a header that says which column has the texts
             7,Ada moved to Lisbon.
    COLUMNS  Ada    B-PER               a word in each row, and a blank line after each sentence
             moved  O
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.files import is_special
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.not_sentences import BETWEEN_TABS, kind_of_data
from elmo_plugin.common.formats.text_files import (
    TABLE_SUFFIXES,
    decode,
    read_lines,
    standard_input_lines,
    suffix_of,
)
from elmo_plugin.common.logs import get_logger, log_level
from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.common.typography import normalize_text
from elmo_plugin.predictions.inputs import Input, input_of_texts, is_question_first

logger = get_logger(__name__)

_JSON_OBJECT = re.compile(r'\s*\{\s*("|\}|$)')  # the beginning of one, unlike "{Anna} left"
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_COLUMN_SUFFIXES = (".conll", ".conllu", ".conllup")
_SNIFFED_LINES = 20  # how many lines are read to find the form of a file
_ARGUMENT = "TEXT"  # the place, in messages, of an input from the command line


class Form(Enum):
    """The form of a file of inputs; the head of this file has an example of each."""

    LINES = auto()
    TABLE = auto()
    COLUMNS = auto()


def inputs_of(texts: Sequence[str], task: TaskCard) -> Iterator[Input]:
    """
    Yields the inputs that the arguments TEXT of `elmo predict` stand for. They are the texts of one
    input, or one input as a JSON object, or a file with an input in each line (`-` for standard
    input). For a task with questions, the passage, the questions, or both may come from files.
    """
    files = [text for text in texts if text == "-" or os.path.exists(text)]
    if not files:
        yield _typed_input(texts, task)
    elif len(texts) == 1:
        yield from read_inputs(texts[0], task)
    elif len(texts) == 2 and "question" in task.text_names:
        yield from _inputs_about_passage(texts, files, task)
    else:  # several arguments, and one of them is a file
        hint = ""
        if len(files) > 1:
            hint = "; `cat FILES | elmo predict ARCHIVE -` reads several"
        raise BiLmError(
            f"TEXT: {files[0]} is a file; its lines are read if it is the only TEXT{hint}"
        )


def _typed_input(texts: Sequence[str], task: TaskCard) -> Input:
    """Returns the input whose texts, or whose JSON object, are in the arguments TEXT."""
    if len(texts) == 1 and _JSON_OBJECT.match(texts[0]):
        return Input(_ARGUMENT, parse_json(texts[0], _ARGUMENT, is_line=True))
    return Input(_ARGUMENT, input_of_texts(task, texts))


def _inputs_about_passage(
    texts: Sequence[str], files: Sequence[str], task: TaskCard
) -> Iterator[Input]:
    """
    Yields the inputs of a passage and its questions, one or both of them in `files`:

        FILE "Who?"      one question about the whole file
        FILE FILE        the question in each line of the second file, about the whole first one
        "Who?" FILE      one question about the whole file
        "Ada left." FILE the question in each line of the file, about the typed passage
    """
    first, last = texts
    if last not in files:
        yield Input(_ARGUMENT, input_of_texts(task, [_content(first), last]))
    elif first in files:
        yield from _questions_about(_content(first), last, _lines(last), task)
    else:
        lines = list(_lines(last))  # a list, because standard input can be read only once
        content = _joined(lines, last)
        if is_question_first(task, [first, content]):
            # `input_of_texts` exchanges question and passage, and warns of it.
            yield Input(_ARGUMENT, input_of_texts(task, [first, content]))
        else:
            yield from _questions_about(first, last, lines, task)


def _questions_about(
    passage: str, file: str, lines: Iterable[bytes], task: TaskCard
) -> Iterator[Input]:
    """
    Yields an input for the question in each line of a file, all about the same passage. Raises
    `BiLmError` if all lines are blank.
    """
    num_questions = 0
    for line in _filled_lines(lines, file):
        num_questions += 1
        question = line.text.strip()
        values = dict(zip(task.text_names, [passage, question], strict=True))
        yield Input(line.place, values, line.number)
    if not num_questions:
        raise BiLmError(
            f"{_shown_name(file)}: expected a question in each line, got only blank lines"
        )


def count_inputs(texts: Sequence[str], task: TaskCard) -> int | None:
    """
    Returns the number of inputs that `inputs_of` yields. Since it reads them all, it raises
    `BiLmError` for any mistake in them before the first prediction is made.

    Returns `None` without reading anything if one of the texts is standard input, a pipe or another
    file that can be read only once.
    """
    if any(text == "-" or is_special(text) for text in texts):
        return None
    with log_level(logging.ERROR):  # the warnings come when the inputs are read again, to predict
        return sum(1 for _ in inputs_of(texts, task))


def _lines(path: str) -> Iterable[bytes]:
    """Returns the lines of a file, or of standard input, `-`."""
    if path == "-":
        return standard_input_lines()
    return read_lines(path)


def _content(path: str) -> str:
    """Returns the text of a whole file, or of standard input, `-`."""
    return _joined(_lines(path), path)


def _joined(lines: Iterable[bytes], path: str) -> str:
    """Returns the text of all lines of a file."""
    name = _shown_name(path)
    return "".join(decode(line, name) for line in lines).strip()


def _shown_name(path: str) -> str:
    """Returns the name of a file in messages."""
    if path == "-":
        return "standard input"
    return path


def read_inputs(path: str | Path, task: TaskCard) -> Iterator[Input]:
    """
    Yields the inputs of a file or of standard input, `-`, plain or in .gz or .zst. Each line is a
    text, or the texts of the task between tabs, or a JSON object as `allennlp predict` reads. Blank
    lines, and a first line that names the texts, are left out. A file may also be a table with a
    column of texts, or columns with a word in each row, with or without tags.

    Raises `BiLmError`, naming file and line, for any other line, and if no line has an input.
    """
    file = str(path)
    form = Form.LINES
    # Standard input and pipes can be read only once, so their form cannot be found by reading them.
    if file != "-" and not is_special(path):
        form = _form_of_file(file, task)
    if form is Form.LINES:
        yield from _inputs_of_lines(file, task)
        return
    # Imported here, because pandas takes a moment to import.
    from elmo_plugin.predictions.tables import inputs_of_columns, inputs_of_table

    if form is Form.TABLE:
        yield from inputs_of_table(file, task)
    else:
        yield from inputs_of_columns(file, task)


def _inputs_of_lines(file: str, task: TaskCard) -> Iterator[Input]:
    """Yields the input in each line of a file, or of standard input, `-`."""
    name = _shown_name(file)
    suffix = suffix_of(file)
    # Otherwise a tab belongs to the sentence.
    has_tabs_between_texts = len(task.texts) > 1 or suffix == ".tsv"
    num_inputs = 0
    num_exchanged = 0
    for line in _filled_lines(_lines(file), file):
        texts = [line.text]
        if has_tabs_between_texts:
            texts = line.text.split("\t")
        if line.number == 1 and _are_names(texts, task):
            continue  # a header
        if suffix in _JSON_SUFFIXES or _JSON_OBJECT.match(line.text):
            values = _parse_object(line.text, line.place, task)
        else:
            _check_number_of_texts(texts, line.place, task)
            if is_question_first(task, texts):
                # Exchanged and counted here, because `input_of_texts` would warn of each line.
                num_exchanged += 1
                texts.reverse()
            values = input_of_texts(task, texts)
        num_inputs += 1
        yield Input(line.place, values, line.number)
    if num_exchanged:
        logger.warning(
            "%s: lines that begin with the question are exchanged: %d", name, num_exchanged
        )
    if not num_inputs:
        raise BiLmError(f"{name}: expected a text, got only blank lines")


class _Line(NamedTuple):
    """A line of a file, without its end; its number, from 1, and its place for messages."""

    text: str
    number: int
    place: str


def _filled_lines(lines: Iterable[bytes], file: str) -> Iterator[_Line]:
    """Yields the lines of a file, except blank lines and lines of invisible characters."""
    for number, line in enumerate(lines, start=1):
        place = f"{_shown_name(file)}, line {number}"
        text = decode(line, place).rstrip("\r\n")
        is_blank = not normalize_text(text).strip()
        if not is_blank:
            yield _Line(text, number, place)


def _form_of_file(file: str, task: TaskCard) -> Form:
    """
    Returns the form of a file, by its suffix or else by its first lines. Raises `BiLmError` if it
    plainly has none of the forms, or one that the task does not take.
    """
    suffix = suffix_of(file)
    if suffix in TABLE_SUFFIXES:
        return Form.TABLE
    if suffix in _JSON_SUFFIXES:
        return Form.LINES
    if suffix in _COLUMN_SUFFIXES:
        if _takes_sentences(task):
            return Form.COLUMNS
        names = " and ".join(task.text_names)
        raise BiLmError(f"{file}: expected {names} in each line, got {suffix}")
    first_lines = []
    for line in islice(_lines(file), _SNIFFED_LINES):
        first_lines.append(line.decode("utf-8", "ignore").strip("\r\n"))
    if len(task.texts) > 1:
        return _form_of_several_texts(first_lines, task, is_tsv=suffix == ".tsv")
    return _form_of_single_texts(first_lines, file, task)


def _takes_sentences(task: TaskCard) -> bool:
    """Returns whether the input of a task is one sentence, which may come as a list of words."""
    return task.text_names == ["sentence"]


def _form_of_several_texts(first_lines: Sequence[str], task: TaskCard, is_tsv: bool) -> Form:
    """
    Returns the form of a file for a task with several texts, such as a premise and a hypothesis. A
    line has the texts with tabs between them. But if a .tsv has more columns than the task has
    texts, it is a table: its header says which columns are the texts.
    """
    if is_tsv and first_lines:
        num_columns = first_lines[0].count("\t") + 1
        if num_columns > len(task.texts):
            return Form.TABLE
    return Form.LINES


def _form_of_single_texts(first_lines: Sequence[str], file: str, task: TaskCard) -> Form:
    """
    Returns the form of a file for a task with one text, by its first lines. Raises `BiLmError` if
    they are plainly something else than texts.
    """
    kind = kind_of_data(first_lines)  # empty if the lines may be sentences
    if kind in ("", "JSON"):
        return Form.LINES
    if kind == BETWEEN_TABS:
        # Either a table with a column of texts, or words and their tags. Only texts have spaces.
        num_with_space = sum(" " in line for line in first_lines)
        has_texts = num_with_space > len(first_lines) / 2
        if has_texts or not _takes_sentences(task):
            return Form.TABLE
    has_word_in_each_row = kind.startswith("columns")
    if has_word_in_each_row and _takes_sentences(task):
        return Form.COLUMNS
    raise BiLmError(f"{file}: expected a text in each line, got {kind}")


def _parse_object(text: str, place: str, task: TaskCard) -> dict[str, Any]:
    """
    Returns the JSON object of a line. Raises `BiLmError` for any other line, and for SQuAD's whole
    data set in one object: the option `--squad` reads that.
    """
    if not _JSON_OBJECT.match(text):
        raise BiLmError(f"{place}: expected a JSON object in each line, got {text!r:.60}")
    values = parse_json(text, place, is_line=True)
    if "question" in task.text_names and isinstance(values.get("data"), list):
        raise BiLmError(
            f"{place}: expected a passage and a question, got SQuAD's JSON; use --squad"
        )
    return values


def _check_number_of_texts(texts: Sequence[str], place: str, task: TaskCard) -> None:
    """Raises `BiLmError` if a line does not have as many texts as the task."""
    if len(texts) != len(task.texts):
        names = " and ".join(task.text_names)
        raise BiLmError(f"{place}: expected {names}, with tabs between texts, or JSON")


def _are_names(texts: Sequence[str], task: TaskCard) -> bool:
    """Returns whether these are the names of the task's texts, as in the head of a table."""
    names = [task.usual_name(text.lower()) for text in texts]
    return names == task.text_names
