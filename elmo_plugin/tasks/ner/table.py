"""The sentences of a file of columns, as rows of fields, without its comments and its header."""

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.text_files import compression
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import parse_tag

WORD_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface")
ENTITY_NAMES = (
    *("ner_tags", "ner_tag", "ner", "ne-coarse-lit", "ne", "entity", "entities", "iob", "bio", "ner_label"),
    *("tag", "tags", "label", "labels"),
)
WORD_CLASS_NAMES = ("upos", "pos", "pos_tag", "pos_tags", "xpos", "chunk", "chunk_tags")
WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[\W_]+")  # as tag sets have them; words in capitals look alike
_SENTENCE_NAMES = ("sentence #", "sentence", "sentence_id", "sentence_idx", "sent_id", "sent", "sid")
_CONLLU = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]
_NOT_SPACES = re.compile(r"\S+", re.ASCII)  # other spaces may be part of a word
_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of words in CoNLL-U; contracted words have two, and empty nodes

NumberedFields = tuple[int, tuple[str, ...]]
"""The number of a line and its fields. Python's garbage collector passes over tuples of text and numbers."""


class Table(NamedTuple):
    """The rows of each sentence of a file, all of one length, and the names of the columns in its header."""

    file: str
    names: list[str]
    sentences: list[list[NumberedFields]]

    def name(self, column: int) -> int | str:
        """Returns the name of a column as options have it, or its number."""
        return self.names[column] if self.names else column

    def error(self, number: int, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file}, line {number}: {message}")


def gather_lines(lines: Iterable[Line]) -> tuple[str, list[str]]:
    """Returns the name of a file and the text of its lines, which burden the garbage collector less."""
    file, texts = "", []
    for line in lines:
        file = line.file
        texts.append(line.text)
    return file, texts


def read_table(
    file: str, texts: Sequence[str], separator: str | None = None, chosen: Collection[str] = ()
) -> Table:
    """
    Splits the lines of a file into fields: as CSV if its name says so; else at tabs if all lines have
    as many; else at spaces. A header has usual names, or those that were `chosen`.

    Raises `ConfigurationError`, naming file and line, if rows differ in their number of columns.
    """
    split = _splitter(file, texts, separator)
    rows: list[NumberedFields | None] = []
    for number, text in enumerate(texts, start=1):
        fields = () if _is_boundary(text) else tuple(split(text))
        rows.append((number, fields) if any(fields) else None)
        if "EndOfSentence" in text:  # of HIPE
            rows.append(None)
        if "\r" in text and "\r" in text.rstrip("\r\n"):
            raise ConfigurationError(
                f"{file}, line {number}: expected lines that end in \\n, got \\r within one"
            )
    rows = _without_comments(rows)
    first_number, first = next(filter(None, rows), (0, ()))
    names = _header(first, chosen)
    if names == list(first):
        rows = rows[first_number and rows.index((first_number, first)) + 1 :]
    for row in filter(None, rows):
        if len(row[1]) != len(first):
            expected = ", ".join(names) or f"as in line {first_number}"
            raise ConfigurationError(
                f"{file}, line {row[0]}: expected {len(first)} columns ({expected}), got {len(row[1])}; "
                "the option separator splits them otherwise"
            )
    separated = groupby(_separate(names, rows), key=bool)
    return Table(file, names, [list(filter(None, sentence)) for is_one, sentence in separated if is_one])


def _splitter(file: str, texts: Sequence[str], separator: str | None) -> Callable[[str], Sequence[str]]:
    """Returns a function that splits a line, at tabs if all lines but comments have as many."""
    if separator is None and file.removesuffix(compression(file)).lower().endswith(".csv"):
        separator = max(",;\t|", key=next(filter(str.strip, texts), "").count)
    tabs = {text.count("\t") for text in texts if text[:1] != "#" and not _is_boundary(text)}
    if separator == "\t" or (separator is None and len(tabs) == 1 and tabs != {0}):
        return lambda text: [field.strip(" ") for field in text.rstrip("\r\n").split("\t")]
    if separator in (" ", None):
        return lambda text: text.split() if text.isascii() else _NOT_SPACES.findall(text)
    return lambda text: [field.strip() for field in next(csv.reader([text], delimiter=separator))]


def _is_boundary(text: str) -> bool:
    return (
        not text
        or text.isspace()
        or ("-DOCSTART" in text and text.lstrip("0123456789\t ").startswith("-DOCSTART"))
    )


def _header(fields: Sequence[str], chosen: Collection[str]) -> list[str]:
    """Returns the names of the columns if the first row is a header, or those of CoNLL-U."""
    names = {field.lower() for field in fields}
    is_usual = names & set(WORD_NAMES) and names & set(ENTITY_NAMES + WORD_CLASS_NAMES)
    if is_usual or (chosen and set(chosen) <= set(fields)):
        return list(fields)
    return _CONLLU if len(fields) == len(_CONLLU) and fields[0][:1] in ("0", "1") else []


def _without_comments(rows: list[NumberedFields | None]) -> list[NumberedFields | None]:
    """Leaves out comments. They separate sentences only if nothing else does."""
    width = next((len(row[1]) for row in reversed(rows) if row and row[1][0][:1] != "#"), 0)
    unsure = {row for row in rows if row and row[1][0][:1] == "#" and not _is_word(row[1], width)}
    if not unsure or not width:
        return rows
    words = [row for row in rows if row and row[1][0][:1] != "#"]
    known = [set(column) for column in zip(*(fields for _, fields in words), strict=False)]
    comments = {row for row in unsure if not _is_word(row[1], width, known)}
    if None in rows[rows.index(words[0]) : rows.index(words[-1])]:
        return [row for row in rows if row not in comments]
    return [None if row in comments else row for row in rows]


def _is_word(fields: Sequence[str], width: int, known: Sequence[set[str]] = ()) -> bool:
    """Returns whether a row that begins with "#" ends in a tag, or has what others have in a column."""
    if len(fields) != width or " " in fields[0] or _KEY_AND_VALUE.match(" ".join(fields)):
        return False
    tag = parse_tag(fields[-1])
    is_tag = fields[-1] in ("O", "#") or bool(tag and tag.kind)
    is_tag = is_tag or (fields[0] != "#" and WORD_CLASS.fullmatch(fields[-1]) is not None)  # of a hash tag
    return is_tag or any(field in column for field, column in zip(fields[1:], known[1:], strict=False))


def _separate(names: Sequence[str], rows: list[NumberedFields | None]) -> Iterator[NumberedFields | None]:
    """
    Separates sentences where a column that names them changes, and leaves out contracted words and empty
    nodes of CoNLL-U.
    """
    sentence_column = next((n for n, name in enumerate(names) if name.lower() in _SENTENCE_NAMES), None)
    numbers = {row[1][0] for row in rows if row and len(row[1]) > 2}
    is_numbered = any(map(str.isdigit, numbers)) and all(map(_NUMBER.fullmatch, numbers))
    last = ""
    for row in rows:
        if not row:
            yield row
            continue
        if sentence_column is not None and row[1][sentence_column] not in ("", last):
            last = row[1][sentence_column]
            yield None
        if not is_numbered or row[1][0].isdigit():
            yield row
