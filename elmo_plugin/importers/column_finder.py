"""Which column of a file has the words, and which one their tags."""

from collections.abc import Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tag_encodings import looks_like_entities
from elmo_plugin.importers.word_columns import (
    ENTITY_NAMES,
    WORD_CLASS_NAMES,
    WORD_NAMES,
    WordColumns,
    is_number,
    is_word_class,
)
from elmo_plugin.tasks.ner.tags import parse_tags

_CHUNKS = {
    *("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"),  # English
    *("NC", "VC", "PC"),  # German
}
_LEMMA_NAMES = ("lemma", "lemmas", "feats", "head", "deprel", "deps", "misc", "id")


class ColumnFinder:
    """
    Finds the columns of the words and of the tags that were not chosen, by their names, or else
    by their contents. Its methods raise `ConfigurationError`, naming file, line and option, if
    more than one column, or none, can have them.
    """

    def __init__(self, columns: WordColumns) -> None:
        self._file = columns
        self._rows = [row for rows in columns.sentences for row in rows]
        width = len(self._rows[0].fields)
        self._columns = [[row.fields[column] for row in self._rows] for column in range(width)]
        self._values = [set(column) for column in self._columns]
        self._texts = [n for n in range(width) if not all(map(is_number, self._values[n] - {""}))]
        self._documents = [n for n in self._texts if width > 2 and self._names_documents(n)]

    def error(self, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self._file.file}, {self._rows[0].place}: {message}")

    def _ambiguous(self, what: str, columns: Sequence[int]) -> ConfigurationError:
        names = " and ".join(repr(self._file.name(column)) for column in columns)
        found = f"no column has {what}s"
        if columns:
            found = f"columns {names} may all have {what}s"
        return self.error(f"{found}; --column {what}=NAME chooses one, by its name or number")

    def resolve(self, column: str, role: str) -> int:
        """
        Returns the number of a column that was chosen by its name, or by a number, also from the
        end.
        """
        width = len(self._columns)
        if column in self._file.names:
            return self._file.names.index(column)
        if column.lstrip("-").isdecimal() and -width <= int(column) < width:
            return int(column) % width
        known = ", ".join(map(repr, self._file.names)) or "without a header"
        raise self.error(
            f"--column {role}: expected one of {width} columns ({known}), got {column!r}"
        )

    def find_tags(self, word: int | None) -> int:
        """
        Finds the tags: by the names of a header, else entities, else chunks, else tags of any kind.
        """
        if len(self._columns) < 2:
            raise self.error(
                "expected a word and its tag, got one column; --separator names what separates them"
            )
        named = self._named(ENTITY_NAMES)
        if named is not None:
            return named
        others = [column for column in self._texts if column != word]
        found = self._columns_of_entities(others)
        if len({tuple(self._columns[column]) for column in found}) > 1:
            raise self._ambiguous("tag", found)
        if found:
            return found[-1]
        named = self._named(WORD_CLASS_NAMES)
        if named is not None:
            return named
        if word is None:
            word = self.find_words()
        rest = [column for column in others if column != word and column not in self._documents]
        rest = [column for column in rest if self._may_be_tags(column)]
        rest = [column for column in rest if looks_like_entities(self._columns[column])] or rest
        if len(rest) != 1:
            raise self._ambiguous("tag", rest)
        return rest[0]

    def _may_be_tags(self, column: int) -> bool:
        """Returns whether a column is neither empty nor, by its name, something else."""
        if not self._values[column] - {"_", "", "-"}:
            return False
        return not self._file.names or self._file.names[column].lower() not in _LEMMA_NAMES

    def _columns_of_entities(self, others: Sequence[int]) -> list[int]:
        """Returns the columns with tags such as B-PER: of entities if there are some, or chunks."""
        with_types: list[int] = []
        without_types: list[int] = []
        entities: list[int] = []
        for column in others:
            tags = parse_tags(self._values[column] - {""})
            if not tags:
                continue
            kinds = {tag.kind for tag in tags.values()} - {""}
            if not kinds:
                without_types.append(column)
                continue
            with_types.append(column)
            if 2 * len(kinds & _CHUNKS) <= len(kinds):
                entities.append(column)
        if entities:
            return entities + [column for column in without_types if column > entities[0]]
        last = without_types[-1:]
        return last + [column for column in with_types if not last or column > last[0]]

    def find_words(self, tag: int | None = None) -> int:
        """Finds the words: by the names of a header, else the first column without numbers."""
        named = self._named(WORD_NAMES)
        if named is not None:
            return named
        others = [column for column in range(len(self._columns)) if column != tag]
        likely = [column for column in others if column not in self._documents] or others
        texts = [column for column in likely if column in self._texts]
        first = (texts or likely)[0]
        classes = [column for column in likely if all(map(is_word_class, self._values[column]))]
        is_class = first in classes and len(classes) < len(likely)
        if len(self._columns) > 2 and (is_class or not texts):
            raise self._ambiguous("word", others)
        return first

    def _named(self, names: Sequence[str]) -> int | None:
        """Returns the column with the first of these names that has more than `_` in it."""
        known = [name.lower() for name in self._file.names]
        for name in names:
            if name in known and self._values[known.index(name)] != {"_"}:
                return known.index(name)
        return None

    def _names_documents(self, column: int) -> bool:
        """Returns whether a column has one value in each sentence, such as a document's name."""
        sentences = self._file.sentences
        if len(self._values[column]) > len(sentences):
            return False
        return all(len({row.fields[column] for row in rows}) == 1 for rows in sentences)
