"""
Semantic roles in columns like CoNLL-2012's: with comments, words that are not numbered from 0,
without coreference, or with `(V*)` at all predicates of a sentence in each column, as WebAnno and
INCEpTION write it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from elmo_plugin.importers.loose_columns import (
    Row,
    check_entities,
    check_lengths,
    check_numbers,
    check_words,
    has_coreference,
    split_rows,
)
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.srl_example import SrlExample
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    ConllWord,
    line_kind,
)
from elmo_plugin.tasks.dataset_reader import Line

_VERB = "(V*)"
_NUMBER = re.compile(r"\d+([-.]\d+)?")


def read_srl_columns(lines: Iterable[Line], report: Report) -> Iterator[SrlExample]:
    """
    Yields the sentences of a file. Blank lines and the marks of documents separate them.

    Raises `ConfigurationError`, naming file and line, if a line has not the columns, or a column of
    arguments belongs to no predicate or to several.
    """
    for kind, group in groupby(lines, key=line_kind):
        if kind != "word":
            continue
        rows = split_rows(list(group))
        if rows:
            yield SrlExample(_words_of(rows, report))


def _words_of(rows: Sequence[Row], report: Report) -> list[ConllWord]:
    """Returns the words of a sentence, numbered from 0, with the columns of their arguments."""
    _check_columns(rows)
    end = -1  # the last column has the coreference
    if not has_coreference(rows):
        report.took("there is no column of coreference in some sentences")
        end = len(rows[0].columns)
    words = []
    for index, row in enumerate(rows):
        fixed = [column or "-" for column in row.columns[:FIXED_COLUMNS]]
        word = ConllWord(row.line, *fixed)
        frames = row.columns[FIXED_COLUMNS:end]
        words.append(word._replace(number=str(index), frames=frames))
    return _with_one_verb_each(words, report)


def _check_columns(rows: Sequence[Row]) -> None:
    """Raises `ConfigurationError` if these are not the columns of CoNLL-2012."""
    line, first = rows[0]
    numbers = [row.columns[2] for row in rows if len(row.columns) >= FIXED_COLUMNS]
    if not numbers or (_is_shifted(rows) and not _are_counting(numbers)):
        raise line.error(
            "expected JSON lines or CoNLL-2012 (document, part, word number, word, …, "
            f"{FIXED_COLUMNS} columns, those of predicates and coreference), got {len(first)}, "
            f"{' '.join(first[:4])!r} …"
        )
    check_lengths(rows)
    check_words(rows, column=3)
    check_numbers(rows, column=2)
    check_entities(rows, speaker=9)


def _is_shifted(rows: Sequence[Row]) -> bool:
    """Returns whether the first column, or that of the words, has the numbers of words."""
    if _NUMBER.fullmatch(rows[0].columns[0]):
        return True
    words = [row.columns[3] for row in rows if len(row.columns) > 3]
    return len(rows) > 1 and _are_counting(words)


def _are_counting(numbers: Sequence[str]) -> bool:
    """Returns whether each number is one more than the number before it."""
    if not all(number.isdecimal() for number in numbers):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def _with_one_verb_each(words: list[ConllWord], report: Report) -> list[ConllWord]:
    """
    Returns the words with `(V*)` once in each column of arguments, if the sentence has as many
    lemmas with framesets: the first column belongs to the first of them, and so on.
    """
    # The positions of the words that have a lemma and a frameset.
    predicates = [index for index, word in enumerate(words) if word.is_predicate]
    columns = list(zip(*(word.frames for word in words), strict=True))
    if not columns or len(predicates) != len(columns):
        return words
    mended = []
    for predicate, labels in zip(predicates, columns, strict=True):
        mended.append(_with_one_verb(labels, predicate, predicates, report))
    rows = zip(*mended, strict=True)
    return [word._replace(frames=labels) for word, labels in zip(words, rows, strict=True)]


def _with_one_verb(
    labels: Sequence[str], predicate: int, predicates: Sequence[int], report: Report
) -> list[str]:
    """Returns a column with `(V*)` at its predicate, and at no other of the sentence."""
    mended = list(labels)
    verbs = {index for index, label in enumerate(labels) if label.startswith("(V*")}
    if not verbs and labels[predicate] == "*":
        mended[predicate] = _VERB
        report.took("predicates without (V*) are the words with a lemma and a frameset")
    elif len(verbs) > 1 and predicate in verbs and verbs <= set(predicates):
        for other in verbs - {predicate}:
            mended[other] = labels[other].replace(_VERB, "*")
        report.took(
            "each column of arguments has (V*) at all predicates of a sentence, as WebAnno "
            "writes it; the first column is of the first lemma, and so on"
        )
    return mended
