"""Sentences with their predicates, from the columns of CoNLL-2012 and CoNLL-2005."""

from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS, locate_label_errors, row_kind, unescape_word
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, sentence_rows
from elmo_plugin.tasks.srl.props import parse_props
from elmo_plugin.tasks.srl.spans import Argument, parse_labels

_KINDS = {"V": "verb", "N": "noun", "J": "adjective", "M": "auxiliary"}
_AUXILIARIES = {"be.03", "have.01", "do.01"}


class Predicate(NamedTuple):
    """A word of a sentence, its lemma, its kind, and its arguments from left to right, with `V`."""

    word: int
    lemma: str
    kind: str  # "verb", "auxiliary", "noun", "adjective" or "other"
    arguments: list[Argument]


class SrlSentence(NamedTuple):
    """Words, with brackets and quotation marks as in plain text, and predicates from left to right."""

    words: list[str]
    predicates: list[Predicate]


def parse_conll2012(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads the columns of CoNLL-2012: document, part, word number, word, part of speech, parse, lemma and
    frameset of the predicate, sense, speaker, named entity, then bracket labels for each predicate from left
    to right, and coreference. Blank lines and lines with `#begin` and `#end` separate sentences.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets are
    malformed, a column belongs to no predicate, or a document is empty.
    """
    rows = ((line, line.columns) for line in lines)
    for kind, group in groupby(_without_empty_documents(rows), key=lambda row: row_kind(row[1])):
        if kind == "word":
            yield _parse_sentence(list(group))


def _without_empty_documents(rows: Iterable[Row]) -> Iterator[Row]:
    begin: Line | None = None
    for line, row in rows:
        kind = row_kind(row)
        if kind == "mark":
            _check_not_empty(begin)
        if kind != "blank":
            begin = line if kind == "mark" and row[0] == "#begin" else None
        yield line, row
    _check_not_empty(begin)


def _check_not_empty(begin: Line | None) -> None:
    if begin is not None:
        raise ConfigurationError(f"{begin.location}: the document that begins here is empty")


def _parse_sentence(rows: list[Row]) -> SrlSentence:
    first, first_columns = rows[0]
    expected = max(len(first_columns), FIXED_COLUMNS + 1)
    check_columns(
        rows, expected, f"{FIXED_COLUMNS} of CoNLL-2012, one for each predicate, one of coreference"
    )
    columns = list(zip(*(row for _, row in rows), strict=True))
    words, parts_of_speech, lemmas, framesets = columns[3], columns[4], columns[6], columns[7]
    label_columns = columns[FIXED_COLUMNS:-1]
    framed = [word for word, frameset in enumerate(framesets) if frameset != "-" and lemmas[word] != "-"]
    predicates = []
    for number, labels in enumerate(label_columns):
        column = f"column {FIXED_COLUMNS + number + 1}"
        with locate_label_errors(rows, f"{column}: "):
            arguments = parse_labels(labels)
        verbs = [argument.start for argument in arguments if argument.role == "V"]
        if not verbs and len(framed) == len(label_columns):
            verbs = [framed[number]]
        if not verbs:
            raise ConfigurationError(
                f"{first.location}: {column} of the sentence that begins here lacks its predicate, (V*)"
            )
        word = verbs[0]
        kind = predicate_kind(parts_of_speech[word], f"{lemmas[word]}.{framesets[word]}")
        predicates.append(Predicate(word, lemmas[word], kind, arguments))
    return SrlSentence([unescape_word(word) for word in words], predicates)


def predicate_kind(part_of_speech: str, frame: str = "") -> str:
    """Returns the kind of a predicate, by its tag in the Penn Treebank and its frame, such as "be.03"."""
    return "auxiliary" if frame in _AUXILIARIES else _KINDS.get(part_of_speech[:1], "other")


def parse_conll2005(props: Iterable[Line], words: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions (see `read_props`), and their words from the first column of a file with the same
    lines. All predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if the lengths of a sentence differ, or `V` is not at
    its predicate.
    """
    for sentence, rows in zip_longest(parse_props(props), sentence_rows(words)):
        if sentence is None or rows is None or sentence.length != len(rows):
            location = rows[0][0].location if rows else sentence.location()
            raise ConfigurationError(
                f"{location}: the sentence that begins here has {len(rows or ())} words, but "
                f"{sentence.length if sentence else 0} lines of propositions"
            )
        predicates = [Predicate(word, lemma, "verb", args) for word, lemma, args in sentence.propositions]
        for number, (word, lemma, _, arguments) in enumerate(predicates, start=2):
            verbs = [argument for argument in arguments if argument.role == "V"]
            if verbs and not any(verb.start <= word < verb.end for verb in verbs):
                raise ConfigurationError(
                    f"{sentence.location(word)}: column {number}: V is not at its predicate, {lemma}, but "
                    f"in line {sentence.first_line + verbs[0].start}"
                )
        yield SrlSentence([unescape_word(row[0]) for _, row in rows], predicates)
