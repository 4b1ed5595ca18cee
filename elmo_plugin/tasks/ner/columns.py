"""Files of columns: the sentences in them, and which column has the words, and which one their
tags.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, cast

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.ner.tags import looks_like_entities, parse_tags
from elmo_plugin.tasks.records import detect_format, find_delimiter, find_quote
from elmo_plugin.tasks.spans import parse_tag

WORD_NAMES = ("token", "tokens", "word", "words", "form", "text", "surface")
ENTITY_NAMES = (
    *(
        "ner_tags",
        "ner_tag",
        "ner",
        "ne-coarse-lit",
        "ne",
        "entity",
        "entities",
        "iob",
        "bio",
        "ner_label",
    ),
    *("tag", "tags", "label", "labels"),
)
WORD_CLASS_NAMES = ("upos", "pos", "pos_tag", "pos_tags", "xpos", "chunk", "chunk_tags")
_SENTENCE_NAMES = (
    "sentence #",
    "sentence",
    "sentence_id",
    "sentence_idx",
    "sent_id",
    "sent",
    "sid",
)
_CONLLU = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]
_CHUNKS = {
    *("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"),  # English
    *("NC", "VC", "PC"),  # German
}
_WORD_CLASS = re.compile(
    r"[A-Z][A-Z0-9$|_-]*|[\W_]+"
)  # as tag sets have them; words in capitals look alike
_NUMBERS = re.compile(r"[\d.,:-]*\d")  # also the places of words in a text, such as 12-15
_NOT_SPACES = re.compile(r"\S+", re.ASCII)  # other spaces may be part of a word
_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")
_NUMBER = re.compile(
    r"\d+([-.]\d+)?"
)  # of words in CoNLL-U; contracted words have two, and empty nodes

NumberedFields = tuple[int, tuple[str, ...]]
"""The number of a line and its fields. Python's garbage collector passes over tuples of text and
numbers.
"""


class Table(NamedTuple):
    """
    The rows of each sentence of a file, all of one length, and the names of the columns in its
    header.
    """

    file: str
    names: list[str]
    sentences: list[list[NumberedFields]]

    def name(self, column: int) -> int | str:
        """Returns the name of a column as options have it, or its number."""
        return self.names[column] if self.names else column

    def error(self, number: int, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file}, line {number}: {message}")


def read_table(
    file: str,
    texts: Sequence[str],
    separator: str | None = None,
    chosen: Collection[object] = (),
    skip_bad: bool | None = None,
) -> Table:
    """
    Splits the lines of a file into fields: as CSV if its name says so; else at tabs if all lines
    have as many; else at spaces. A header has usual names, or the `chosen` ones. With `skip_bad`
    the fields of a row of another length are blank; the error names the options unless it is
    `None`.

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
    first_number, first = _usual_row(rows)
    names = _header(first, {name for name in chosen if isinstance(name, str)}, file)
    if names == list(first):
        rows = rows[first_number and rows.index((first_number, first)) + 1 :]
    for index, row in enumerate(rows):
        if row and len(row[1]) != len(first):
            expected = ", ".join(names) or f"as in line {first_number}"
            if not skip_bad:
                hint = (
                    "; the option separator splits them otherwise, and skip_bad leaves the "
                    "sentence out"
                )
                raise ConfigurationError(
                    f"{file}, line {row[0]}: expected {len(first)} columns ({expected}), got "
                    f"{len(row[1])}" + hint * (skip_bad is not None)
                )
            rows[index] = (row[0], ("",) * len(first))
    names, rows = _with_entities_in_keys(names, rows)
    separated = groupby(_separate(names, rows), key=bool)
    return Table(
        file, names, [list(filter(None, sentence)) for is_one, sentence in separated if is_one]
    )


def _splitter(
    file: str, texts: Sequence[str], separator: str | None
) -> Callable[[str], Sequence[str]]:
    """Returns a function that splits a line, at tabs if all lines but comments have as many."""
    first = Line(next(filter(str.strip, texts), ""), file, 1)
    if separator is None and detect_format(first) == "csv":
        separator = find_delimiter(first)
    tabs = {text.count("\t") for text in texts if text[:1] != "#" and not _is_boundary(text)}
    if separator == "\t" or (separator is None and len(tabs) == 1 and tabs != {0}):
        return lambda text: [field.strip(" ") for field in text.rstrip("\r\n").split("\t")]
    if separator in (" ", None):
        return lambda text: text.split() if text.isascii() else _NOT_SPACES.findall(text)
    quote = find_quote([first.text], separator)
    return lambda text: [
        f.strip() for f in next(csv.reader([text], delimiter=separator, quotechar=quote))
    ]


def _is_boundary(text: str) -> bool:
    return (
        not text
        or text.isspace()
        or ("-DOCSTART" in text and text.lstrip("0123456789\t ").startswith("-DOCSTART"))
    )


def _usual_row(rows: Sequence[NumberedFields | None]) -> NumberedFields:
    """Returns the first row that is as long as most are."""
    lengths = Counter(len(row[1]) for row in rows if row)
    return next(
        (row for row in rows if row and len(row[1]) == lengths.most_common(1)[0][0]), (0, ())
    )


def _header(fields: Sequence[str], chosen: Collection[str], file: str) -> list[str]:
    """Returns the names of the columns if the first row is a header, or CoNLL-U's."""
    names = {field.lower() for field in fields}
    has_words, is_one = names & set(WORD_NAMES), len(fields) == 1 and ".csv" in file
    is_usual = has_words and (
        is_one or names & set(ENTITY_NAMES + WORD_CLASS_NAMES + _SENTENCE_NAMES)
    )
    if is_usual or (chosen and set(chosen) <= set(fields)):
        return list(fields)
    return list(_CONLLU) if len(fields) == len(_CONLLU) and fields[0][:1] in ("0", "1") else []


def _without_comments(rows: list[NumberedFields | None]) -> list[NumberedFields | None]:
    """Leaves out comments. They separate sentences only if nothing else does."""
    words = [row for row in rows if row and row[1][0][:1] != "#"]
    width = len(words[-1][1]) if words else 0
    if not width or len(words) == len(rows) - rows.count(None):
        return rows
    known = [set(column) for column in zip(*(fields for _, fields in words), strict=False)]
    comments = {
        row for row in rows if row and row[1][0][:1] == "#" and not _is_word(row[1], width, known)
    }
    has_blank_lines = None in rows[rows.index(words[0]) : rows.index(words[-1])]
    left = (
        None if row in comments else row
        for row in rows
        if not (has_blank_lines and row in comments)
    )
    return list(left)


def _is_word(fields: Sequence[str], width: int, known: Sequence[set[str]]) -> bool:
    """
    Returns whether a row that begins with "#" ends in a tag, or has what others have in a column.
    """
    if len(fields) != width or " " in fields[0] or _KEY_AND_VALUE.match(" ".join(fields)):
        return False
    tag = parse_tag(fields[-1])
    is_tag = fields[-1] in ("O", "#") or bool(tag and tag.kind)
    is_tag = is_tag or (
        fields[0] != "#" and _WORD_CLASS.fullmatch(fields[-1]) is not None
    )  # of a hash tag
    return is_tag or any(
        field in column for field, column in zip(fields[1:], known[1:], strict=False)
    )


def _with_entities_in_keys(
    names: list[str], rows: list[NumberedFields | None]
) -> tuple[list[str], list[NumberedFields | None]]:
    """
    Adds a column for a key with tags of entities, such as `name` in CoNLL-U's `Gloss=x|name=B-PER`.
    """
    words = [row for row in rows if row]
    for column in range(len(words[0][1]) if words else 0):
        values = {row[1][column] for row in words}
        if not all("=" in value or value in ("_", "") for value in values):
            continue
        pairs = {
            value: dict(p.split("=", 1) for p in value.split("|") if "=" in p) for value in values
        }
        for key in sorted({key for found in pairs.values() for key in found}):
            tags = parse_tags({found[key] for found in pairs.values() if key in found})
            if tags and any(tag.kind for tag in tags.values()):
                tag_of = {value: found.get(key, "O") for value, found in pairs.items()}
                rows = [row and (row[0], (*row[1], tag_of[row[1][column]])) for row in rows]
                names = names and [*names, key]
    return names, rows


def _separate(
    names: Sequence[str], rows: list[NumberedFields | None]
) -> Iterator[NumberedFields | None]:
    """
    Separates sentences where a column that names them changes, and leaves out contracted words and
    empty nodes of CoNLL-U.
    """
    sentence_column = next(
        (n for n, name in enumerate(names) if name.lower() in _SENTENCE_NAMES), None
    )
    numbers = {row[1][0] for row in rows if row and len(row[1]) > 2}
    is_numbered = any(map(str.isdigit, numbers)) and all(map(_NUMBER.fullmatch, numbers))
    last = ""
    for row in rows:
        if row and sentence_column is not None and row[1][sentence_column] not in ("", last):
            last = row[1][sentence_column]
            yield None
        if not row or not is_numbered or row[1][0].isdigit():
            yield row


class ColumnFinder:
    """
    Finds the columns of the words and of the tags that were not chosen by their names, or else by
    the distinct values of each. Its methods raise `ConfigurationError`, naming file, line and
    option, if more than one column, or none, can have them.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._columns = list(
            zip(*(fields for rows in table.sentences for _, fields in rows), strict=True)
        )
        self._values = [set(column) for column in self._columns]
        width = len(self._columns)
        self._texts = [c for c in range(width) if not all(map(_NUMBERS.fullmatch, self._values[c]))]
        self._names_of_documents = [c for c in self._texts if width > 2 and self._repeats(c)]

    def error(self, message: str) -> ConfigurationError:
        return self._table.error(self._table.sentences[0][0][0], message)

    def _ambiguous(self, what: str, columns: Sequence[int]) -> ConfigurationError:
        names = " and ".join(repr(self._table.name(column)) for column in columns)
        found = f"columns {names} may all have {what}s" if columns else f"no column has {what}s"
        return self.error(f"{found}; the option {what}_column of the reader chooses one")

    def resolve(self, column: int | str, option: str) -> int:
        """
        Returns the number of a column that was chosen by a number, also from the end, or by its
        name.
        """
        width = len(self._columns)
        if column in self._table.names:
            return self._table.names.index(cast(str, column))
        if isinstance(column, int) and -width <= column < width:
            return column % width
        known = ", ".join(map(repr, self._table.names)) or "without a header"
        raise self.error(f"{option}: expected one of {width} columns ({known}), got {column!r}")

    def _column_with_name(self, names: Sequence[str]) -> int | None:
        known = [name.lower() for name in self._table.names]
        found = (known.index(name) for name in names if name in known)
        return next((column for column in found if self._values[column] != {"_"}), None)

    def find_tags(self, word: int | None) -> int:
        """
        Finds the tags: by the names of a header, else entities, else chunks, else tags of any kind.
        """
        if len(self._columns) < 2:
            raise self.error(
                "expected a word and its tag, got one column; the option separator splits columns"
            )
        if (named := self._column_with_name(ENTITY_NAMES)) is not None:
            return named
        others = [column for column in self._texts if column != word]
        tags = {column: parsed for column in others if (parsed := parse_tags(self._values[column]))}
        typed = [column for column in tags if any(tag.kind for tag in tags[column].values())]
        outside = [column for column in tags if column not in typed]
        kinds = {column: {tag.kind for tag in tags[column].values()} - {""} for column in typed}
        entities = [
            column for column in typed if 2 * len(kinds[column] & _CHUNKS) <= len(kinds[column])
        ]
        if entities:
            found = entities + [column for column in outside if column > entities[0]]
        else:
            found = outside[-1:] + [column for column in typed if column > max(outside, default=-1)]
        if len({self._columns[column] for column in found}) > 1:
            raise self._ambiguous("tag", found)
        if found:
            return found[-1]
        if (named := self._column_with_name(WORD_CLASS_NAMES)) is not None:
            return named
        word = self.find_words() if word is None else word
        rest = [c for c in others if c != word and c not in self._names_of_documents]
        rest = [column for column in rest if looks_like_entities(self._columns[column])] or rest
        if len(rest) != 1:
            raise self._ambiguous("tag", rest)
        return rest[0]

    def find_words(self, tag: int | None = None) -> int:
        """Finds the words: by the names of a header, else the first column without numbers."""
        if (named := self._column_with_name(WORD_NAMES)) is not None:
            return named
        others = [column for column in range(len(self._columns)) if column != tag]
        likely = [column for column in others if column not in self._names_of_documents] or others
        first = next((column for column in likely if column in self._texts), likely[0])
        classes = [c for c in likely if all(map(_WORD_CLASS.fullmatch, self._values[c]))]
        is_class = first in classes and len(classes) < len(likely)
        if len(self._columns) > 2 and (is_class or first not in self._texts):
            raise self._ambiguous("word", others)
        return first

    def _repeats(self, column: int) -> bool:
        """
        Returns whether a column has the same value in each sentence, such as the name of a
        document.
        """
        sentences = self._table.sentences
        return len(self._values[column]) <= len(sentences) and all(
            len({fields[column] for _, fields in rows}) == 1 for rows in sentences
        )
