"""
Semantic roles in columns like CoNLL-2012's: with comments, words that are not numbered from 0,
without coreference, or with `(V*)` at all predicates of a sentence in each column, as WebAnno and
INCEpTION write it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from elmo_plugin.common.integers import is_whole_number
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

    Raises `ConfigurationError`, naming file and line, if the columns are not CoNLL-2012's, or two
    sentences have no blank line between them. The brackets of arguments are not checked.
    """
    for kind, group in groupby(lines, key=line_kind):
        if kind != "word":
            continue
        rows = split_rows(list(group))
        if rows:  # there are more than comments
            yield SrlExample(_words_of(rows, report))


def _words_of(rows: Sequence[Row], report: Report) -> list[ConllWord]:
    """
    Returns the words of a sentence, numbered from 0, with the columns of their arguments. Raises
    errors as `read_srl_columns` does.
    """
    _check_columns(rows)
    if has_coreference(rows):
        end_of_arguments = -1  # the last column has the coreference
    else:
        report.took("there is no column of coreference in some sentences")
        end_of_arguments = len(rows[0].columns)
    words = []
    for index, row in enumerate(rows):
        fixed = [column or "-" for column in row.columns[:FIXED_COLUMNS]]
        word = ConllWord(row.line, *fixed)
        frames = row.columns[FIXED_COLUMNS:end_of_arguments]
        words.append(word._replace(number=str(index), frames=frames))
    return _with_one_verb_each(words, report)


def _check_columns(rows: Sequence[Row]) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if these are not the columns of CoNLL-2012,
    or the rows of more than one sentence.
    """
    line, first = rows[0]
    numbers = [row.columns[2] for row in rows if len(row.columns) >= FIXED_COLUMNS]
    # Numbers in other columns, such as a document called 1, do not matter if the third one counts.
    is_other_form = _has_numbers_of_words_elsewhere(rows) and not _are_counting(numbers)
    if not numbers or is_other_form:
        raise line.error(
            "expected JSON lines or CoNLL-2012 (document, part, word number, word, …, "
            f"{FIXED_COLUMNS} columns, those of predicates and coreference), got {len(first)}, "
            f"{' '.join(first[:4])!r} …"
        )
    check_lengths(rows)
    check_words(rows, column=3)
    check_numbers(rows, column=2)
    check_entities(rows, speaker_column=9)


def _has_numbers_of_words_elsewhere(rows: Sequence[Row]) -> bool:
    """
    Returns whether the numbers of words seem to be in the first column, as in CoNLL-U, or in the
    fourth, as if one column more stood before them.
    """
    if _NUMBER.fullmatch(rows[0].columns[0]):
        return True
    words = [row.columns[3] for row in rows if len(row.columns) > 3]
    return len(rows) > 1 and _are_counting(words)


def _are_counting(numbers: Sequence[str]) -> bool:
    """Returns whether each number is one more than the number before it."""
    if not all(is_whole_number(number) for number in numbers):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def _with_one_verb_each(words: list[ConllWord], report: Report) -> list[ConllWord]:
    """
    Returns the words with `(V*)` once in each column of arguments, if the sentence has as many
    lemmas with framesets: the first column belongs to the first of them, and so on. Otherwise
    returns the words unchanged.
    """
    # The positions of the words that have a lemma and a frameset.
    predicates = [index for index, word in enumerate(words) if word.is_predicate]
    columns = list(zip(*(word.frames for word in words), strict=True))
    if not columns or len(predicates) != len(columns):
        return words
    mended_columns = []
    for predicate, labels in zip(predicates, columns, strict=True):
        mended_columns.append(_with_one_verb(labels, predicate, predicates, report))
    rows = zip(*mended_columns, strict=True)
    return [word._replace(frames=labels) for word, labels in zip(words, rows, strict=True)]


def _with_one_verb(
    labels: Sequence[str], predicate: int, predicates: Sequence[int], report: Report
) -> list[str]:
    """
    Returns a column of arguments with `(V*)` at its predicate, and at no other predicate of the
    sentence. A column that has `(V*)` somewhere else is returned unchanged, for its errors.
    """
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
