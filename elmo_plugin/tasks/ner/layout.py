"""Which column of a table has the words, and which one their tags."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.ner.table import ENTITY_NAMES, WORD_CLASS_NAMES, WORD_NAMES, Row, Table
from elmo_plugin.tasks.ner.tags import looks_like_entities, parse_tags

_CHUNKS = {
    *("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"),  # English
    *("NC", "VC", "PC"),  # German
}
_WORD_CLASS = re.compile(r"[A-Z][A-Z0-9$|_-]*|[\W_]+")  # as tag sets have them; words in capitals look alike


class Layout(NamedTuple):
    """The columns of the words and of the tags, among `width`, with their names if there is a header."""

    word: int
    tag: int
    width: int
    names: list[str]

    def describe(self) -> str:
        """Returns the columns as the options have them."""
        word, tag = ([*self.names, *range(self.width)][column] for column in (self.word, self.tag))
        return f"words in column {word!r}, tags in column {tag!r}"


def find_layout(
    table: Table,
    word_column: int | str | None = None,
    tag_column: int | str | None = None,
    earlier: Layout | None = None,
) -> Layout:
    """
    Finds the columns that were not chosen, from all of the table. Of several that may have the tags, that of
    the `earlier` file is taken if the tables are alike.

    Raises `ConfigurationError`, naming file and line, if rows differ in their number of columns, or if more
    than one column, or none, can have the words or the tags.
    """
    rows = table.words()
    number, first = rows[0]
    width = len(first)
    for other, fields in rows:
        if len(fields) != width:
            expected = ", ".join(table.names) or f"as in line {number}"
            raise table.error(other, f"expected {width} columns ({expected}), got {len(fields)}")
    columns = [[fields[column] for _, fields in rows] for column in range(width)]
    finder = _Finder(table, rows, columns)
    if width < 2:
        raise finder.error("expected a word and its tag, got one column; the option separator splits columns")
    word = None if word_column is None else finder.resolve(word_column, "word_column")
    tag = None if tag_column is None else finder.resolve(tag_column, "tag_column")
    if earlier and earlier[2:] == (width, table.names) and not finder.has_chunks(earlier.tag):
        word = earlier.word if word is None else word
        tag = earlier.tag if tag is None else tag
    if tag is None:
        tag = finder.tag_column(word)
    if word is None:
        word = finder.word_column(tag)
    if word == tag:
        raise finder.error(f"word_column and tag_column are the same column, {tag}")
    return Layout(word, tag, width, table.names)


class _Finder:
    """The columns of a table, with the distinct values of each."""

    def __init__(self, table: Table, rows: Sequence[Row], columns: Sequence[Sequence[str]]) -> None:
        self.table, self.rows, self.columns = table, rows, columns
        self.values = [set(column) for column in columns]
        self.names = [name.lower() for name in table.names]
        self.width = len(columns)

    def error(self, message: str) -> ConfigurationError:
        return self.table.error(self.rows[0][0], message)

    def ambiguous(self, what: str, columns: Sequence[int], option: str) -> ConfigurationError:
        names = " and ".join(repr(self.table.names[c] if self.names else c) for c in columns)
        found = f"columns {names} may all have {what}" if columns else f"no column has {what}"
        return self.error(f"{found}; the option {option} chooses one")

    def resolve(self, column: int | str, option: str) -> int:
        """Returns the number of a column that was chosen by a number, also from the end, or by its name."""
        if isinstance(column, str) and column in self.table.names:
            return self.table.names.index(column)
        if type(column) is int and -self.width <= column < self.width:
            return column % self.width
        known = ", ".join(map(repr, self.table.names)) if self.names else "without a header"
        raise self.error(f"{option}: expected one of {self.width} columns ({known}), got {column!r}")

    def named(self, names: Sequence[str]) -> int | None:
        return next((self.names.index(name) for name in names if name in self.names), None)

    def tag_column(self, word: int | None) -> int:
        """Finds the tags: by the names of a header, else entities, else chunks, else tags of any kind."""
        if (named := self.named(ENTITY_NAMES)) is not None:
            return named
        others = [column for column in range(self.width) if column != word and not self.is_number(column)]
        tags = {column: parsed for column in others if (parsed := parse_tags(self.values[column]))}
        typed = [column for column in tags if any(tag.kind for tag in tags[column].values())]
        entities = [column for column in typed if not self.has_chunks(column)]
        outside = [column for column in tags if column not in typed][-1:]
        if outside and (outside > entities[:1] if entities else outside < typed[-1:]):
            raise self.ambiguous("the tags", sorted([*(entities or typed), *outside]), "tag_column")
        for found in (entities, outside, typed):
            if len({tuple(self.columns[column]) for column in found}) > 1:
                raise self.ambiguous("the tags", found, "tag_column")
            if found:
                return found[-1]
        if (named := self.named(WORD_CLASS_NAMES)) is not None:
            return named
        word = self.word_column() if word is None else word
        rest = [column for column in others if column != word and not self.repeats(column)]
        rest = [column for column in rest if looks_like_entities(self.columns[column])] or rest
        if len(rest) == 1:
            return rest[0]
        raise self.ambiguous("the tags", rest, "tag_column")

    def has_chunks(self, column: int) -> bool:
        """Returns whether most types of a column are those of chunks, such as noun phrases."""
        tags = parse_tags(self.values[column]) or {}
        kinds = {tag.kind for tag in tags.values()} - {""}
        return len(kinds & _CHUNKS) * 2 > len(kinds)

    def word_column(self, tag: int | None = None) -> int:
        """Finds the words: by the names of a header, else the first that neither counts nor repeats."""
        if (named := self.named(WORD_NAMES)) is not None:
            return named
        others = [column for column in range(self.width) if column != tag]
        found = [column for column in others if not self.is_number(column) and not self.repeats(column)]
        if self.width == 2 or not found:
            found = others
        if not all(map(_WORD_CLASS.fullmatch, self.values[found[0]])):
            return found[0]
        passed = others[: others.index(found[0])]
        if passed and not any(map(self.starts_again, passed)):
            raise self.ambiguous("the words", [passed[-1], found[0]], "word_column")
        for column in found:
            if not all(map(_WORD_CLASS.fullmatch, self.values[column])):
                if len(self.values[column]) > len(self.values[found[0]]):
                    return column
                if len(self.values[column]) == len(self.values[found[0]]):
                    raise self.ambiguous("the words", [found[0], column], "word_column")
        return found[0]

    def is_number(self, column: int) -> bool:
        return all(map(str.isdigit, self.values[column]))

    def repeats(self, column: int) -> bool:
        """Returns whether a column has the same value in each sentence, such as the name of a document."""
        if self.width == 2 or len(self.values[column]) > len(self.starts):
            return False
        values = self.columns[column]
        ends = [*self.starts[1:], len(values)]
        lengths = [len(set(values[start:end])) for start, end in zip(self.starts, ends, strict=True)]
        return max(lengths) == 1 and (len(values) > len(lengths) or len(self.values[column]) == 1)

    def starts_again(self, column: int) -> bool:
        """Returns whether a column counts the words of each of several sentences."""
        return len(self.starts) > 1 and {self.columns[column][start] for start in self.starts} in (
            {"0"},
            {"1"},
        )

    @cached_property
    def starts(self) -> list[int]:
        """The numbers of the rows that begin a sentence."""
        starts, number, is_first = [], 0, True
        for row in self.table.rows:
            if row is None:
                is_first = True
            elif number < len(self.rows) and row is self.rows[number]:
                starts += [number] * is_first
                number, is_first = number + 1, False
        return starts
