"""Which column of a table has the words, and which one their tags."""

import re
from collections.abc import Sequence
from typing import cast

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.ner.table import ENTITY_NAMES, WORD_CLASS, WORD_CLASS_NAMES, WORD_NAMES, Table
from elmo_plugin.tasks.ner.tags import looks_like_entities, parse_tags

_CHUNKS = {
    *("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"),  # English
    *("NC", "VC", "PC"),  # German
}
_NUMBERS = re.compile(r"[\d.,:-]*\d")  # also the places of words in a text, such as 12-15


def find_columns(
    table: Table, word_column: int | str | None = None, tag_column: int | str | None = None
) -> tuple[int, int]:
    """
    Returns the columns of the words and of the tags; those that were not chosen are found from all the table.

    Raises `ConfigurationError`, naming file and line, if more than one column, or none, can have the words or
    the tags.
    """
    finder = _Finder(table)
    word = None if word_column is None else finder.resolve(word_column, "word_column")
    tag = finder.find_tags(word) if tag_column is None else finder.resolve(tag_column, "tag_column")
    word = finder.find_words(tag) if word is None else word
    if word == tag:
        raise finder.error(f"word_column and tag_column are the same column, {tag}")
    return word, tag


class _Finder:
    """The columns of a table, with the distinct values of each."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns = list(zip(*(fields for rows in table.sentences for _, fields in rows), strict=True))
        self.values = [set(column) for column in self.columns]
        self.width = len(self.columns)
        if self.width < 2:
            raise self.error(
                "expected a word and its tag, got one column; the option separator splits columns"
            )

    def error(self, message: str) -> ConfigurationError:
        return self.table.error(self.table.sentences[0][0][0], message)

    def ambiguous(self, what: str, columns: Sequence[int]) -> ConfigurationError:
        names = " and ".join(repr(self.table.name(column)) for column in columns)
        found = f"columns {names} may all have {what}s" if columns else f"no column has {what}s"
        return self.error(f"{found}; the option {what}_column chooses one")

    def resolve(self, column: int | str, option: str) -> int:
        """Returns the number of a column that was chosen by a number, also from the end, or by its name."""
        if column in self.table.names:
            return self.table.names.index(cast(str, column))
        if isinstance(column, int) and -self.width <= column < self.width:
            return column % self.width
        known = ", ".join(map(repr, self.table.names)) or "without a header"
        raise self.error(f"{option}: expected one of {self.width} columns ({known}), got {column!r}")

    def column_with_name(self, names: Sequence[str]) -> int | None:
        known = [name.lower() for name in self.table.names]
        return next((known.index(name) for name in names if name in known), None)

    def find_tags(self, word: int | None) -> int:
        """Finds the tags: by the names of a header, else entities, else chunks, else tags of any kind."""
        if (named := self.column_with_name(ENTITY_NAMES)) is not None:
            return named
        others = [column for column in range(self.width) if column != word and not self.has_numbers(column)]
        tags = {column: parsed for column in others if (parsed := parse_tags(self.values[column]))}
        typed = [column for column in tags if any(tag.kind for tag in tags[column].values())]
        entities = [column for column in typed if not self.has_chunks(column)]
        outside = [column for column in tags if column not in typed][-1:]
        if outside and (outside > entities[:1] if entities else outside < typed[-1:]):
            raise self.ambiguous("tag", sorted([*(entities or typed), *outside]))
        if found := entities or outside or typed:
            if len({self.columns[column] for column in found}) > 1:
                raise self.ambiguous("tag", found)
            return found[-1]
        if (named := self.column_with_name(WORD_CLASS_NAMES)) is not None:
            return named
        word = self.find_words() if word is None else word
        rest = [column for column in others if column != word and not self.repeats(column)]
        rest = [column for column in rest if looks_like_entities(self.columns[column])] or rest
        if len(rest) != 1:
            raise self.ambiguous("tag", rest)
        return rest[0]

    def has_chunks(self, column: int) -> bool:
        """Returns whether most types of a column are those of chunks, such as noun phrases."""
        tags = parse_tags(self.values[column]) or {}
        kinds = {tag.kind for tag in tags.values()} - {""}
        return len(kinds & _CHUNKS) * 2 > len(kinds)

    def find_words(self, tag: int | None = None) -> int:
        """
        Finds the words: by the names of a header, else the first column without numbers. If that has what
        may be parts of speech or the names of documents, another with more distinct values is taken.
        """
        if (named := self.column_with_name(WORD_NAMES)) is not None:
            return named
        others = [column for column in range(self.width) if column != tag]
        found = [column for column in others if not self.has_numbers(column)] or others
        first = found[0]
        if self.width == 2 or not self.is_metadata(first):
            return first
        likely = {column: len(self.values[column]) for column in found if not self.is_metadata(column)}
        best = max(likely, key=likely.__getitem__, default=first)
        if (best == first != others[0]) or likely.get(best) == len(self.values[first]):
            raise self.ambiguous("word", [others[0] if best == first else first, best])
        return best if likely.get(best, 0) > len(self.values[first]) else first

    def is_metadata(self, column: int) -> bool:
        return self.repeats(column) or all(map(WORD_CLASS.fullmatch, self.values[column]))

    def has_numbers(self, column: int) -> bool:
        return all(map(_NUMBERS.fullmatch, self.values[column]))

    def repeats(self, column: int) -> bool:
        """Returns whether a column has the same value in each sentence, such as the name of a document."""
        sentences = self.table.sentences
        return (
            self.width > 2
            and len(self.values[column]) <= len(sentences)
            and all(len({fields[column] for _, fields in rows}) == 1 for rows in sentences)
        )
