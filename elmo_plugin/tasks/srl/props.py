"""Sentences with their predicates, from the columns of CoNLL-2005."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import line_kind, locate_label_errors, unescape_word
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, sentence_rows
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence
from elmo_plugin.tasks.srl.spans import Argument, format_labels, parse_labels

NO_PREDICATE = "-"


def parse_props(lines: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions, one word per line: the lemma of a predicate or `-`, and then, for each predicate from
    left to right, a bracket label. White space separates columns, blank lines separate sentences. The words
    are empty, and all predicates are verbs.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, or brackets are
    malformed, nested or without their other half.
    """
    return map(_parse_rows, sentence_rows(lines))


def parse_conll2005(props: Iterable[Line], words: Iterable[Line]) -> Iterator[SrlSentence]:
    """
    Reads propositions, and their words from the first column of a file with the same lines.

    Raises `ConfigurationError`, naming file and line, if the lengths of a sentence differ, or `V` is not at
    its predicate.
    """
    empty: list[Row] = []
    for sentence, rows in zip_longest(sentence_rows(props), sentence_rows(words), fillvalue=empty):
        if len(sentence) != len(rows):
            raise ConfigurationError(
                f"{(rows or sentence)[0][0].location}: the sentence that begins here has {len(rows)} words, "
                f"but {len(sentence)} lines of propositions"
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
        yield _with_words([(line, row[start:]) for line, row in rows], rows)


def _parse_rows(rows: Sequence[Row]) -> SrlSentence:
    first, first_columns = rows[0]
    if line_kind(first) == "begin" or first.text.startswith("{"):
        raise ConfigurationError(
            f"{first.location}: expected CoNLL-2005's propositions, got {first.text:.30}"
        )
    check_columns(rows, len(first_columns), f"as in line {first.number} of this sentence")
    lemmas, *columns = zip(*(row for _, row in rows), strict=True)
    words = [word for word, lemma in enumerate(lemmas) if lemma != NO_PREDICATE]
    if len(words) != len(columns):
        raise ConfigurationError(
            f"{first.location}: the sentence that begins here has {len(words)} predicates, but "
            f"{len(columns)} columns of arguments"
        )
    predicates = []
    for number, (word, labels) in enumerate(zip(words, columns, strict=True), start=2):
        with locate_label_errors(rows, f"column {number}: "):
            predicates.append(Predicate(word, lemmas[word], "verb", parse_labels(labels)))
    return SrlSentence([""] * len(rows), predicates, first.location)


def _with_words(props: Sequence[Row], rows: Sequence[Row]) -> SrlSentence:
    sentence = _parse_rows(props)
    for number, (word, lemma, _, arguments) in enumerate(sentence.predicates, start=2):
        verbs = [argument for argument in arguments if argument.role == "V"]
        if verbs and not any(verb.start <= word < verb.end for verb in verbs):
            raise ConfigurationError(
                f"{props[word][0].location}: column {number}: V is not at its predicate, {lemma}, but "
                f"in line {props[verbs[0].start][0].number}"
            )
    return sentence._replace(words=[unescape_word(row[0]) for _, row in rows])


def format_props(length: int, predicates: Iterable[tuple[int, str, list[Argument]]]) -> list[str]:
    """
    Returns a line for each word of a sentence, from the place, the lemma and the arguments of each predicate.
    Inverts `parse_props`. Raises `ValueError` if it cannot be written.
    """
    lemmas = [NO_PREDICATE] * length
    columns = []
    for word, lemma, arguments in sorted(predicates):
        if not re.fullmatch(r"\S+", lemma, re.ASCII) or lemma == NO_PREDICATE:
            raise ValueError(f"{lemma!r} cannot be written as the lemma of a predicate")
        lemmas[word] = lemma
        columns.append(format_labels(arguments, length))
    return ["\t".join(row) for row in zip(lemmas, *columns, strict=True)]
