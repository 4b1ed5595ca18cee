"""The props files of CoNLL-2005: a column of predicates, and one of brackets for the arguments of each."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.files import atomic_write
from elmo_plugin.tasks.conll2012 import line_kind, locate_label_errors
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, read_text_lines, sentence_rows
from elmo_plugin.tasks.srl.spans import Argument, format_labels, parse_labels

NO_PREDICATE = "-"


class Proposition(NamedTuple):
    """The word that is a predicate, its lemma, and its arguments from left to right, with `V`."""

    predicate: int
    lemma: str
    arguments: list[Argument]


class PropsSentence(NamedTuple):
    """A number of words, and their propositions from left to right, read at a line of a file."""

    length: int
    propositions: list[Proposition]
    file: str = ""
    first_line: int = 1

    def location(self, word: int = 0) -> str:
        """Returns file and line of a word, with which an error message begins."""
        return f"{self.file}, line {self.first_line + word}"


def read_props(path: str | os.PathLike[str]) -> Iterator[PropsSentence]:
    """
    Reads propositions, one word per line: the lemma of a predicate or `-`, and then, for each predicate from
    left to right, a bracket label. White space separates columns, blank lines separate sentences.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, or brackets are
    malformed, nested or without their other half.
    """
    return parse_props(read_text_lines(str(path)))


def parse_props(lines: Iterable[Line]) -> Iterator[PropsSentence]:
    """Yields the sentences of the lines of a props file, see `read_props`."""
    return map(parse_rows, sentence_rows(lines))


def parse_rows(rows: list[Row]) -> PropsSentence:
    """Returns the propositions in the rows of a sentence, see `read_props`."""
    first, first_columns = rows[0]
    if line_kind(first) == "begin" or first.text.startswith("{"):
        raise ConfigurationError(
            f"{first.location}: expected CoNLL-2005's propositions, got {first.text:.30}"
        )
    check_columns(rows, len(first_columns), f"as in line {first.number} of this sentence")
    lemmas, *columns = zip(*(row for _, row in rows), strict=True)
    predicates = [word for word, lemma in enumerate(lemmas) if lemma != NO_PREDICATE]
    if len(predicates) != len(columns):
        raise ConfigurationError(
            f"{first.location}: the sentence that begins here has {len(predicates)} predicates, but "
            f"{len(columns)} columns of arguments"
        )
    propositions = []
    for number, (predicate, labels) in enumerate(zip(predicates, columns, strict=True), start=2):
        with locate_label_errors(rows, f"column {number}: "):
            propositions.append(Proposition(predicate, lemmas[predicate], parse_labels(labels)))
    return PropsSentence(len(rows), propositions, first.file, first.number)


def write_props(path: str | os.PathLike[str], sentences: Iterable[PropsSentence]) -> None:
    """
    Writes propositions atomically, with tabs between the columns. Inverts `read_props`.

    Raises `ConfigurationError` if a sentence is empty or a proposition cannot be written.
    """
    with atomic_write(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for number, sentence in enumerate(sentences, start=1):
            try:
                file.writelines(f"{row}\n" for row in format_props(sentence))
            except ValueError as error:
                raise ConfigurationError(f"{path}, sentence {number}: {error}") from None
            file.write("\n")


def format_props(sentence: PropsSentence) -> list[str]:
    """Returns a line for each word of a sentence. Raises `ValueError` if it cannot be written."""
    if sentence.length < 1:
        raise ValueError("a sentence without words cannot be written")
    lemmas = [NO_PREDICATE] * sentence.length
    columns = []
    for predicate, lemma, arguments in sorted(sentence.propositions):
        if not re.fullmatch(r"\S+", lemma, re.ASCII) or lemma == NO_PREDICATE:
            raise ValueError(f"{lemma!r} cannot be written as the lemma of a predicate")
        if not 0 <= predicate < sentence.length or lemmas[predicate] != NO_PREDICATE:
            raise ValueError(f"the predicate {lemma} is not at a word of its own: {predicate}")
        lemmas[predicate] = lemma
        columns.append(format_labels(arguments, sentence.length))
    return ["\t".join(row) for row in zip(lemmas, *columns, strict=True)]
