"""Sentences with their predicates, from the columns of CoNLL-2012 and CoNLL-2005."""

from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, LabelError, kind_of_row, unescape_word
from elmo_plugin.tasks.dataset_reader import Line, Row, sentence_rows
from elmo_plugin.tasks.srl.props import parse_props
from elmo_plugin.tasks.srl.spans import Argument, parse_labels

_KINDS = {"V": "verb", "N": "noun", "J": "adjective", "M": "auxiliary"}
_AUXILIARIES = {"be.03", "have.01", "do.01"}


class Predicate(NamedTuple):
    """
    position: the index of its word in the sentence
    lemma: as in the file
    kind: "verb", "auxiliary", "noun", "adjective" or "other"
    arguments: from left to right, with `V`
    """

    position: int
    lemma: str
    kind: str
    arguments: list[Argument]


class SrlSentence(NamedTuple):
    """
    words: with brackets and quotation marks as they are in plain text
    predicates: from left to right
    """

    words: list[str]
    predicates: list[Predicate]


def parse_conll2012(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads the columns of CoNLL-2012: document, part, word number, word, part of speech, parse, lemma and
    frameset of the predicate, sense, speaker, named entity, then bracket labels for each predicate from left
    to right, and coreference. Blank lines separate sentences; lines with `#begin` and `#end` do not count.

    Raises `ConfigurationError`, naming file and line, where columns are missing or too many, brackets are
    malformed, or a column belongs to no predicate, and where a document is empty.
    """
    rows = ((line, line.columns) for line in lines)
    for kind, group in groupby(_without_empty_documents(rows), key=lambda row: kind_of_row(row[1])):
        if kind == "word":
            yield _parse_sentence(list(group))


def _without_empty_documents(rows: Iterable[Row]) -> Iterator[Row]:
    begin: Line | None = None
    for line, row in rows:
        kind = kind_of_row(row)
        if kind == "word":
            begin = None
        elif kind == "mark":
            if begin is not None:
                raise ConfigurationError(f"{begin.location}: the document that begins here has no sentence")
            begin = line if row[0] == "#begin" else None
        yield line, row
    if begin is not None:
        raise ConfigurationError(f"{begin.location}: the document that begins here has no sentence")


def _parse_sentence(rows: list[Row]) -> SrlSentence:
    first, columns_of_first = rows[0]
    for line, row in rows:
        if len(row) != max(len(columns_of_first), FIXED_COLUMNS + 1):
            raise ConfigurationError(
                f"{line.location}: expected {FIXED_COLUMNS} columns of CoNLL-2012, one for each predicate "
                f"and one of coreference, the same number in all lines of a sentence, but found {len(row)}"
            )
    columns = list(zip(*(row for _, row in rows), strict=True))
    words, parts_of_speech, lemmas, framesets = columns[3], columns[4], columns[6], columns[7]
    labels_of_predicates = columns[FIXED_COLUMNS:-1]
    framed = [word for word, frameset in enumerate(framesets) if frameset != "-" and lemmas[word] != "-"]
    predicates = []
    for number, labels in enumerate(labels_of_predicates):
        try:
            arguments = parse_labels(labels)
        except LabelError as error:
            location = rows[error.row][0].location
            raise ConfigurationError(f"{location}: column {FIXED_COLUMNS + number + 1}: {error}") from None
        places = [argument.start for argument in arguments if argument.role == "V"]
        if not places and len(framed) == len(labels_of_predicates):
            places = [framed[number]]
        if not places:
            raise ConfigurationError(
                f"{first.location}: column {FIXED_COLUMNS + number + 1} of the sentence that begins here "
                "has no predicate, (V*)"
            )
        position = places[0]
        frame = f"{lemmas[position]}.{framesets[position]}"
        predicates.append(
            Predicate(position, lemmas[position], predicate_kind(parts_of_speech[position], frame), arguments)
        )
    return SrlSentence([unescape_word(word) for word in words], predicates)


def predicate_kind(part_of_speech: str, frame: str = "") -> str:
    """Returns the kind of a predicate, by its tag in the Penn Treebank and its frame, such as "be.03"."""
    return "auxiliary" if frame in _AUXILIARIES else _KINDS.get(part_of_speech[:1], "other")


def parse_conll2005(props: Iterable[Line], words: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions (see `read_props`), and the words that they are about from a file with the same lines,
    whose first column has the words. All predicates are verbs.

    Raises `ConfigurationError`, naming file and line, where a sentence has another length in the other file,
    and where `V` is not at its predicate.
    """
    for found, sentence in zip_longest(parse_props(props), sentence_rows(words)):
        if found is None or sentence is None or found.length != len(sentence):
            location = sentence[0][0].location if sentence else found.location()
            raise ConfigurationError(
                f"{location}: the sentence that begins here has {len(sentence or ())} words, but "
                f"{found.length if found else 0} lines of propositions"
            )
        for number, (position, lemma, arguments) in enumerate(found.propositions, start=2):
            verbs = [argument for argument in arguments if argument.role == "V"]
            if verbs and not any(verb.start <= position < verb.end for verb in verbs):
                raise ConfigurationError(
                    f"{found.location(position)}: column {number}: V is not at its predicate, {lemma}, but "
                    f"in line {found.first_line + verbs[0].start}"
                )
        predicates = [
            Predicate(proposition.predicate, proposition.lemma, "verb", proposition.arguments)
            for proposition in found.propositions
        ]
        yield SrlSentence([unescape_word(row[0]) for _, row in sentence], predicates)
