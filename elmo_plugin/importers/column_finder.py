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
# The names of columns that have neither words nor tags.
_UNRELATED_NAMES = ("lemma", "lemmas", "feats", "head", "deprel", "deps", "misc", "id")
_TYPE = re.compile(r"[^\W\d_]+([ _/&.-]?\w+){0,3}")  # of entities, such as "natürliche Person"
_COMMON_LETTERS = 2  # so many letters begin both a word and its lemma


class ColumnFinder:
    """
    Finds the column of the words and the column of the tags by their names, or else by their
    contents. Columns are numbered from 0. The methods raise `ConfigurationError`, naming file, line
    and option, if no column fits, or if several do.
    """

    def __init__(self, table: WordColumns) -> None:
        self._table = table
        self._rows = [row for sentence in table.sentences for row in sentence]
        width = len(self._rows[0].fields)
        self._columns = [[row.fields[column] for row in self._rows] for column in range(width)]
        self._distinct_values = [set(values) for values in self._columns]
        self._text_columns = [column for column in range(width) if self._has_text(column)]
        self._document_columns: list[int] = []
        if width > 2:  # if there are only two columns, they have the words and the tags
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
        Finds the column of the tags. These are tags of entities if there are any, or else chunks,
        or else tags of any kind, such as parts of speech.

        word: the column of the words, if the user chose it
        prefer_entities: whether types of entities without a letter, such as `person` instead of
            `B-person`, also come before parts of speech in another column
        """
        if len(self._columns) < 2:
            raise self._one_column_error()
        named = self._column_with_name(ENTITY_NAMES)
        if named is not None:
            return named
        entities = self._find_entities(word, also_types=prefer_entities)
        if entities is not None:
            return entities
        named = self._column_with_name(WORD_CLASS_NAMES)
        if named is not None:
            return named
        if word is None:
            word = self.find_words()
        return self._find_other_tags(word)

    def _find_entities(self, word: int | None, also_types: bool) -> int | None:
        """
        Finds the column of the tags of entities, or else of chunks, by its contents. Returns `None`
        if no column has them. `also_types` also accepts types without a letter, such as `person`.
        """
        others = [column for column in self._text_columns if column != word]
        likely = self._columns_of_entities(others)
        if not likely and also_types:
            likely = self._columns_of_types(others)
        if not likely:
            return None
        # If a file repeats the same tags in several columns, any of these will do.
        distinct = {tuple(self._columns[column]) for column in likely}
        if len(distinct) > 1:
            raise self._ambiguous_error("tag", likely)
        return likely[-1]

    def _find_other_tags(self, word: int) -> int:
        """
        Finds the column of tags of any kind beside the column `word`. If several columns may have
        tags, the only one whose tags look like entities is chosen.
        """
        likely = []
        for column in self._text_columns:
            may_have_tags = column != word and column not in self._document_columns
            if may_have_tags and self._may_be_tags(column, word):
                likely.append(column)
        entities = [column for column in likely if looks_like_entities(self._columns[column])]
        if entities:
            likely = entities
        if len(likely) != 1:
            raise self._ambiguous_error("tag", likely)
        return likely[0]

    def find_words(self, tag: int | None = None) -> int:
        """
        Finds the column of the words by its name, or else takes the first one that has text in all
        rows. `tag` is the column of the tags, if it is known.
        """
        named = self._column_with_name(WORD_NAMES)
        if named is not None:
            return named
        others = [column for column in range(len(self._columns)) if column != tag]
        if not others:
            raise self._one_column_error()
        likely = [column for column in others if self._may_be_words(column)]
        if not likely:
            likely = others
        texts = [column for column in likely if column in self._text_columns]
        if len(self._columns) <= 2:
            # If the only other column has the tags, even numbers are words.
            first = texts[0] if texts else likely[0]
            return self._with_capitals(first, likely)
        if not texts:
            raise self._ambiguous_error("word", others)
        first = texts[0]
        # A first column that looks like parts of speech is doubtful if another one does not.
        word_classes = [column for column in likely if self._has_word_classes(column)]
        if first in word_classes and len(word_classes) < len(likely):
            raise self._ambiguous_error("word", others)
        return self._with_capitals(first, likely)

    def _with_capitals(self, words: int, likely: Sequence[int]) -> int:
        """
        Returns the one of the `likely` columns that has the words of the column `words` with their
        capitals, if `words` has them in small letters only. Otherwise, returns `words`.
        """
        for column in likely:
            values = self._columns[column]
            in_small_letters = [value.lower() for value in values]
            if in_small_letters == self._columns[words] and in_small_letters != values:
                return column
        return words

    def _one_column_error(self) -> ConfigurationError:
        """Returns the error that words and tags cannot both be in the only column."""
        return self.error(
            "expected a word and its tag, got one column; --separator names what separates them"
        )

    def _ambiguous_error(self, what: str, columns: Sequence[int]) -> ConfigurationError:
        """Returns an error that lists the columns which may be meant, or says that none may."""
        found = f"no column has {what}s"
        if columns:
            names = " and ".join(repr(self._table.name(column)) for column in columns)
            found = f"columns {names} may all have {what}s"
        return self.error(f"{found}; --column {what}=NAME chooses one, by its name or number")

    def _column_with_name(self, names: Sequence[str]) -> int | None:
        """
        Returns the column with the first of these names, or `None` if no column has one. Columns
        of empty values or of CoNLL-U's `_` are skipped, and so are numbers of sentences.
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
        for sentence in self._table.sentences:
            values = {row.fields[column] for row in sentence}
            if len(values) > 1:
                return False
        return True

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
        Returns the columns that may have the tags of entities, such as B-PER, or B alone. Columns
        of chunks, such as B-NP, are returned only if no other column has tags, or if they stand to
        the right of a column with the letters alone.
        """
        entities: list[int] = []
        chunks: list[int] = []
        without_types: list[int] = []
        for column in others:
            types = self._types_in_tags(column)
            if types is None:
                continue
            are_mostly_chunks = 2 * len(types & _CHUNKS) > len(types)
            if not types:
                without_types.append(column)
            elif are_mostly_chunks:
                chunks.append(column)
            else:
                entities.append(column)
        # Files usually have the tags to learn in their last column. The columns before it have
        # features of the words.
        if entities:
            return entities + [column for column in without_types if column > entities[0]]
        if without_types:
            last = without_types[-1]
            return [last] + [column for column in chunks if column > last]
        return chunks

    def _types_in_tags(self, column: int) -> set[str] | None:
        """
        Returns the types in the tags of a column, such as PER in B-PER, or an empty set if its tags
        have no types. Returns `None` if its values are not tags of entities.
        """
        values = self._distinct_values[column]
        tags = parse_tags(values - set(OUTSIDE_MARKS))
        if tags:
            return {tag.kind for tag in tags.values()} - {""}
        is_file_without_entities = "O" in values and values <= set(OUTSIDE_MARKS)
        if is_file_without_entities:
            return set()
        return None

    def _columns_of_types(self, others: Sequence[int]) -> list[int]:
        """
        Returns the columns in which most words have a mark such as O, and the others the type of an
        entity. Types occur more than once. If they do in some of the columns, only these columns
        are returned, because the others may have remarks.
        """
        found = []
        repeated = []
        for column in others:
            counts = Counter(self._columns[column])
            most_usual, _ = counts.most_common(1)[0]
            types = counts.keys() - set(OUTSIDE_MARKS)
            if most_usual not in OUTSIDE_MARKS or not types or self._has_unrelated_name(column):
                continue
            if all(_TYPE.fullmatch(kind) for kind in types):
                found.append(column)
                if any(counts[kind] > 1 for kind in types):
                    repeated.append(column)
        if repeated:
            return repeated
        return found

    def _has_unrelated_name(self, column: int) -> bool:
        """Returns whether the name of a column says that it has neither words nor tags."""
        return bool(self._table.names) and self._table.names[column].lower() in _UNRELATED_NAMES

    def _may_be_tags(self, column: int, word: int) -> bool:
        """
        Returns whether a column may have tags of any kind: it has few different values, or some
        words have no tag, or all values look like tags. Neither punctuation marks nor the lemmas of
        the words are tags.
        """
        if self._has_unrelated_name(column):
            return False
        values = self._distinct_values[column]
        if not any(value[:1].isalnum() for value in values):
            return False
        are_few = 2 * len(values) <= len(self._rows)
        some_words_have_no_tag = "" in values or "O" in values
        look_like_tags = self._has_word_classes(column) or bool(parse_tags(values))
        if not (are_few or some_words_have_no_tag or look_like_tags):
            return False
        return not self._are_lemmas(column, word)

    def _are_lemmas(self, column: int, word: int) -> bool:
        """Returns whether most values of a column begin with the same letters as their words."""
        num_words = 0
        num_alike = 0
        for value, text in zip(self._columns[column], self._columns[word], strict=True):
            if text.isalpha() and len(text) >= _COMMON_LETTERS:
                num_words += 1
                beginning = text[:_COMMON_LETTERS].lower()
                if value.lower().startswith(beginning):
                    num_alike += 1
        return 2 * num_alike > num_words
