"""Which column of a file has the words, and which one their tags."""

import re
from collections import Counter
from collections.abc import Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.column_names import (
    ENTITY_NAMES,
    WORD_CLASS_NAMES,
    WORD_NAMES,
    is_number,
    is_word_class,
)
from elmo_plugin.importers.tag_encodings import OUTSIDE_MARKS, looks_like_entities
from elmo_plugin.importers.word_columns import WordColumns
from elmo_plugin.tasks.ner.tags import parse_tags

_ENGLISH_CHUNKS = ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP")
_GERMAN_CHUNKS = ("NC", "VC", "PC")
_CHUNKS = {*_ENGLISH_CHUNKS, *_GERMAN_CHUNKS}
_OTHER_NAMES = ("lemma", "lemmas", "feats", "head", "deprel", "deps", "misc", "id")
_TYPE = re.compile(r"[^\W\d_]+([ _/&.-]?\w+){0,3}")  # of entities, such as "natürliche Person"
_BEGINNING = 2  # letters that a word and its lemma have in common


class ColumnFinder:
    """
    Finds the column of the words and the column of the tags by their names, or else by their
    contents. Its methods raise `ConfigurationError`, naming file, line and option, if more than one
    column, or none, may be the one. Columns are numbered from 0.
    """

    def __init__(self, table: WordColumns) -> None:
        self._table = table
        self._rows = [row for rows in table.sentences for row in rows]
        width = len(self._rows[0].fields)
        self._columns = [[row.fields[column] for row in self._rows] for column in range(width)]
        self._distinct_values = [set(column) for column in self._columns]
        self._text_columns = [column for column in range(width) if self._has_text(column)]
        self._document_columns: list[int] = []
        if width > 2:  # of two columns, neither is left over for documents
            self._document_columns = [
                column for column in self._text_columns if self._names_documents(column)
            ]

    def error(self, message: str) -> ConfigurationError:
        """Returns an error that begins with the file and the place of the first row."""
        return ConfigurationError(f"{self._table.file}, {self._rows[0].place}: {message}")

    def resolve(self, column: str, role: str) -> int:
        """
        Returns the number of the column that `--column` chooses for a role: by its name, or by its
        number, where -1 is the last column.
        """
        width = len(self._columns)
        if column in self._table.names:
            return self._table.names.index(column)
        is_column_number = re.fullmatch(r"-?\d+", column) is not None
        if is_column_number and -width <= int(column) < width:
            return int(column) % width
        known = ", ".join(repr(name) for name in self._table.names) or "without a header"
        raise self.error(
            f"--column {role}: expected one of {width} columns ({known}), got {column!r}"
        )

    def find_tags(self, word: int | None, prefer_entities: bool) -> int:
        """
        Finds the column of the tags: by the names of a header, else entities, else chunks, else
        tags of any kind. `prefer_entities` takes types of entities without a letter, such as
        `person` instead of `B-person`, rather than parts of speech in another column.
        """
        if len(self._columns) < 2:
            raise self.error(
                "expected a word and its tag, got one column; --separator names what separates them"
            )
        named = self._named(ENTITY_NAMES)
        if named is not None:
            return named
        others = [column for column in self._text_columns if column != word]
        entities = self._columns_of_entities(others)
        if not entities and prefer_entities:
            entities = self._columns_of_types(others)
        if entities:
            distinct = {tuple(self._columns[column]) for column in entities}
            if len(distinct) > 1:
                raise self._ambiguous("tag", entities)
            return entities[-1]  # if there are several, they have the same tags
        named = self._named(WORD_CLASS_NAMES)
        if named is not None:
            return named
        if word is None:
            word = self.find_words()
        return self._find_other_tags(word)

    def _find_other_tags(self, word: int) -> int:
        """
        Finds tags of any kind: the only column that may have them, or the only one of these that
        looks like entities.
        """
        likely = []
        for column in self._text_columns:
            is_other = column != word and column not in self._document_columns
            if is_other and self._may_be_tags(column, word):
                likely.append(column)
        entities = [column for column in likely if looks_like_entities(self._columns[column])]
        if entities:
            likely = entities
        if len(likely) != 1:
            raise self._ambiguous("tag", likely)
        return likely[0]

    def find_words(self, tag: int | None = None) -> int:
        """
        Finds the column of the words, other than the `tag` column: by the names of a header, else
        the first one with text in all rows.
        """
        named = self._named(WORD_NAMES)
        if named is not None:
            return named
        others = [column for column in range(len(self._columns)) if column != tag]
        likely = [column for column in others if self._may_be_words(column)] or others
        texts = [column for column in likely if column in self._text_columns]
        # Beside a single column of tags, even numbers are words.
        if not texts and len(self._columns) > 2:
            raise self._ambiguous("word", others)
        first = (texts or likely)[0]
        # If the first column looks like parts of speech, another may have the words.
        classes = [column for column in likely if self._has_word_classes(column)]
        if len(self._columns) > 2 and first in classes and len(classes) < len(likely):
            raise self._ambiguous("word", others)
        return self._as_written(first, likely)

    def _as_written(self, words: int, others: Sequence[int]) -> int:
        """
        Returns the column with the words in their own capitals: one of the `others`, if the column
        `words` has the same words in small letters only.
        """
        for column in others:
            values = self._columns[column]
            in_small_letters = [value.lower() for value in values]
            if in_small_letters == self._columns[words] and in_small_letters != values:
                return column
        return words

    def _ambiguous(self, what: str, columns: Sequence[int]) -> ConfigurationError:
        """Returns an error that lists the columns which may be meant, or says that none may."""
        found = f"no column has {what}s"
        if columns:
            names = " and ".join(repr(self._table.name(column)) for column in columns)
            found = f"columns {names} may all have {what}s"
        return self.error(f"{found}; --column {what}=NAME chooses one, by its name or number")

    def _named(self, names: Sequence[str]) -> int | None:
        """
        Returns the column with the first of these names, or `None` if no column has one. Columns
        that are empty, or have only CoNLL-U's `_`, do not count.
        """
        known = [name.lower() for name in self._table.names]
        for name in names:
            if name in known:
                column = known.index(name)
                is_empty = self._distinct_values[column] <= {"_", ""}
                if not is_empty and column not in self._table.sentence_columns:
                    return column
        return None

    def _has_text(self, column: int) -> bool:
        """Returns whether a column has text, not only numbers or the marks of sentences."""
        if column in self._table.sentence_columns:
            return False
        filled = self._distinct_values[column] - {""}
        return any(not is_number(value) for value in filled)

    def _names_documents(self, column: int) -> bool:
        """Returns whether a column has one value in each sentence, such as a document's name."""
        sentences = self._table.sentences
        if len(self._distinct_values[column]) > len(sentences):
            return False
        return all(len({row.fields[column] for row in rows}) == 1 for rows in sentences)

    def _has_word_classes(self, column: int) -> bool:
        """Returns whether all values of a column look like parts of speech."""
        return all(is_word_class(value) for value in self._distinct_values[column])

    def _may_be_words(self, column: int) -> bool:
        """Returns whether a column is filled in each row, and does not name documents."""
        if column in self._document_columns or column in self._table.sentence_columns:
            return False
        return "" not in self._distinct_values[column]

    def _columns_of_entities(self, others: Sequence[int]) -> list[int]:
        """
        Returns the columns that may have the tags of entities, such as B-PER, or B alone. Chunks,
        such as B-NP, are among them only if no other column is, or if they stand further right.
        """
        with_types: list[int] = []
        without_types: list[int] = []
        entities: list[int] = []
        for column in others:
            values = self._distinct_values[column]
            tags = parse_tags(values - set(OUTSIDE_MARKS))
            if not tags:
                if "O" in values and values <= set(OUTSIDE_MARKS):  # a file without entities
                    without_types.append(column)
                continue
            kinds = {tag.kind for tag in tags.values()} - {""}
            if not kinds:
                without_types.append(column)
                continue
            with_types.append(column)
            are_mostly_chunks = 2 * len(kinds & _CHUNKS) > len(kinds)
            if not are_mostly_chunks:
                entities.append(column)
        # Files usually have the tags to learn last, and features of the words left of them.
        if entities:
            return entities + [column for column in without_types if column > entities[0]]
        if not without_types:
            return with_types  # chunks
        last = without_types[-1]
        return [last] + [column for column in with_types if column > last]

    def _columns_of_types(self, others: Sequence[int]) -> list[int]:
        """
        Returns the columns in which most words have a mark such as O, and some have the type of an
        entity. Types occur again; if they do so in any of the columns, the others have remarks.
        """
        found = []
        repeated = []
        for column in others:
            counts = Counter(self._columns[column])
            most_usual, _ = counts.most_common(1)[0]
            types = counts.keys() - set(OUTSIDE_MARKS)
            if most_usual not in OUTSIDE_MARKS or not types or self._is_other(column):
                continue
            if all(_TYPE.fullmatch(kind) for kind in types):
                found.append(column)
                if any(counts[kind] > 1 for kind in types):
                    repeated.append(column)
        return repeated or found

    def _is_other(self, column: int) -> bool:
        """Returns whether the name of a column says that it has neither words nor tags."""
        return bool(self._table.names) and self._table.names[column].lower() in _OTHER_NAMES

    def _may_be_tags(self, column: int, word: int) -> bool:
        """
        Returns whether a column may have tags of any kind. Its values have letters or digits, are
        few different ones or written as tags are, and are not the lemmas of the words.
        """
        values = self._distinct_values[column]
        if self._is_other(column) or not any(value[:1].isalnum() for value in values):
            return False
        are_few = 2 * len(values) <= len(self._rows)
        has_words_without_tag = "" in values or "O" in values
        may_be_of_tag_set = are_few or has_words_without_tag
        if not may_be_of_tag_set and not self._has_word_classes(column) and not parse_tags(values):
            return False
        return not self._are_lemmas(column, word)

    def _are_lemmas(self, column: int, word: int) -> bool:
        """Returns whether most values of a column begin as the words of their rows do."""
        num_words = 0
        num_alike = 0
        for value, text in zip(self._columns[column], self._columns[word], strict=True):
            if text.isalpha() and len(text) >= _BEGINNING:
                num_words += 1
                beginning = text[:_BEGINNING].lower()
                if value.lower().startswith(beginning):
                    num_alike += 1
        return 2 * num_alike > num_words
