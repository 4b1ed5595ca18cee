"""Sentences with their predicates, from the columns of CoNLL-2012 and CoNLL-2005."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NOTHING,
    TABS,
    is_counting,
    line_kind,
    locate_label_errors,
    split_sentence,
    unescape_word,
    unescape_words,
)
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, sentence_rows
from elmo_plugin.tasks.srl.props import NO_PREDICATE, PropsSentence, parse_props, parse_rows
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
    to right, and coreference, unless it is missing. Blank lines and marks of documents separate sentences.

    Raises `ConfigurationError`, naming file and line, if the columns are not those, brackets are malformed,
    or a column belongs to no predicate.
    """
    for kind, group in groupby(lines, key=line_kind):
        rows = split_sentence(list(group)) if kind == "word" else []
        if rows:
            yield _parse_sentence(rows)


def _parse_sentence(rows: list[Row]) -> SrlSentence:
    first = rows[0][0]
    _check_format(rows)
    columns = list(zip(*(row for _, row in rows), strict=True))
    words, parts_of_speech, lemmas, framesets = columns[3], columns[4], columns[6], columns[7]
    framed = [
        word for word in range(len(rows)) if lemmas[word] not in NOTHING and framesets[word] not in NOTHING
    ]
    label_columns = _without_coreference(columns[FIXED_COLUMNS:], len(framed))
    if framed and not label_columns:
        raise ConfigurationError(
            f"{first.location}: expected {len(framed)} columns of arguments in this sentence, one for each "
            "lemma with a frameset, got none"
        )
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
                f"{first.location}: {column} of the sentence that begins here lacks its predicate, (V*); "
                f"{TABS}"
            )
        word = verbs[0]
        kind = predicate_kind(parts_of_speech[word], f"{lemmas[word]}.{framesets[word]}")
        predicates.append(Predicate(word, lemmas[word], kind, arguments))
    return SrlSentence(unescape_words(rows, words), predicates)


def _check_format(rows: list[Row]) -> None:
    """Raises `ConfigurationError` if these are not the columns of CoNLL-2012."""
    line, first = rows[0]
    numbers, words = ([row[column] if len(row) > column else "" for _, row in rows] for column in (2, 3))
    begins_with_number = re.fullmatch(r"\d+([-.]\d+)?", first[0])
    is_shifted = begins_with_number or (len(rows) > 1 and is_counting(words))
    if len(first) < FIXED_COLUMNS or (is_shifted and not is_counting(numbers)):
        raise ConfigurationError(
            f"{line.location}: expected CoNLL-2012 (document, part, word number, word, …, {FIXED_COLUMNS} "
            f"columns and those of the predicates), got {len(first)} columns, {' '.join(first[:4])!r} …; "
            "format: 'conll2005' reads words and propositions"
        )
    check_columns(rows, len(first), f"as in line {line.number}; {TABS}")


def _without_coreference(columns: list[tuple[str, ...]], predicates: int) -> list[tuple[str, ...]]:
    """Returns the columns of the predicates. A column of coreference has no `*` next to its brackets."""
    labels = "".join(columns[-1]) if columns else ""
    is_predicate = "*" in labels and ("(" in labels or len(columns) == predicates)
    return columns if is_predicate else columns[:-1]


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
        yield _with_words(sentence, rows)


def parse_words_and_props(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads words in the first column, and propositions in the last ones. Raises `ConfigurationError`, naming
    file and line, if they are not there.
    """
    for rows in sentence_rows(lines):
        line, first = rows[0]
        check_columns(rows, len(first), f"as in line {line.number}")
        for start in range(len(first) - 1, 0, -1):
            if sum(row[start] != NO_PREDICATE for _, row in rows) == len(first) - start - 1:
                break
        else:
            raise ConfigurationError(
                f'{line.location}: expected words first and propositions last, or a path with "props" whose '
                'words are in a path with "words"'
            )
        yield _with_words(parse_rows([(line, row[start:]) for line, row in rows]), rows)


def _with_words(sentence: PropsSentence, rows: list[Row]) -> SrlSentence:
    predicates = [Predicate(word, lemma, "verb", args) for word, lemma, args in sentence.propositions]
    for number, (word, lemma, _, arguments) in enumerate(predicates, start=2):
        verbs = [argument for argument in arguments if argument.role == "V"]
        if verbs and not any(verb.start <= word < verb.end for verb in verbs):
            raise ConfigurationError(
                f"{sentence.location(word)}: column {number}: V is not at its predicate, {lemma}, but "
                f"in line {sentence.first_line + verbs[0].start}"
            )
    return SrlSentence([unescape_word(row[0]) for _, row in rows], predicates)
