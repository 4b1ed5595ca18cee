"""The entities of OntoNotes: spans in brackets in a column of CoNLL-2012."""

import re
from collections.abc import Iterator, Sequence

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.tasks.conll2012 import unescape_word

# The columns of the number of a word in its sentence, of the word, and of its entity.
_NUMBER = 2
_WORD = 3
_ENTITY = 10
_FEWEST_COLUMNS = 12
_FIRST_ROWS = 1000  # that show the form of a file
_BRACKETS = re.compile(r"(\((?P<label>[^()*\s]+))?\*?(?P<end>\))?")


def is_conll2012(lines: Sequence[str]) -> bool:
    """Returns whether the rows of a file are CoNLL-2012's."""
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    for row in rows[:_FIRST_ROWS]:
        if len(row) < _FEWEST_COLUMNS or not row[_NUMBER].isdecimal():
            return False
        if _BRACKETS.fullmatch(row[_ENTITY]) is None:
            return False
    return len(rows) > 0


def sentences_with_brackets(file: str, lines: Sequence[str]) -> Iterator[TaggedSentence]:
    """
    Yields the sentences, with entities in BIO. Raises `ConfigurationError`, naming file and line,
    if columns are missing or brackets do not fit.
    """
    places: list[str] = []
    words: list[str] = []
    tags: list[str] = []
    document: str | None = None
    label: str | None = None  # of the entity whose bracket is open
    for number, line in enumerate([*lines, ""], start=1):  # a blank line ends the last sentence
        fields = line.split()
        if line.startswith("#"):
            continue
        if not fields:
            if label:
                raise ConfigurationError(
                    f"{file}, {places[-1]}: expected the closing bracket of {label!r}"
                )
            if words:
                yield TaggedSentence(places, words, tags, document)
            places = []
            words = []
            tags = []
            continue
        if len(fields) < _FEWEST_COLUMNS:
            raise ConfigurationError(
                f"{file}, line {number}: expected the columns of CoNLL-2012, at least "
                f"{_FEWEST_COLUMNS}, got {len(fields)}"
            )
        match = _BRACKETS.fullmatch(fields[_ENTITY])
        opens_another = match is not None and match["label"] and label
        closes_nothing = match is not None and match["end"] and not (match["label"] or label)
        if match is None or opens_another or closes_nothing:
            raise ConfigurationError(
                f"{file}, line {number}: expected an entity in brackets, got {fields[_ENTITY]!r}"
            )
        places.append(f"line {number}")
        words.append(unescape_word(fields[_WORD]))
        document = fields[0]
        if match["label"]:
            label = match["label"]
            tags.append(f"B-{label}")
        else:
            tags.append(f"I-{label}" if label else "O")
        if match["end"]:
            label = None
