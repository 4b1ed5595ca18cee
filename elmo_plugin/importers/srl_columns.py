"""
Semantic roles in columns like CoNLL-2012's.

Unlike CoNLL-2012, a file may have comments, may number its words from 1, and may lack the column of
coreference. Each column of arguments may have `(V*)` at all predicates of the sentence, instead of
at its own predicate alone: WebAnno and INCEpTION write files like this.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.loose_columns import (
    NUMBER_COLUMN,
    SPEAKER_COLUMN,
    WORD_COLUMN,
    WORD_NUMBER,
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
        if rows:  # not only comments
            yield SrlExample(_words_of(rows, report))


def _words_of(rows: Sequence[Row], report: Report) -> list[ConllWord]:
    """
    Returns the words of a sentence, numbered from 0, without their coreference. Raises errors as
    `read_srl_columns` does.
    """
    _check_columns(rows)
    if has_coreference(rows):
        end_of_arguments = -1  # the last column has the coreference
    else:
        report.took("there is no column of coreference in some sentences")
        end_of_arguments = len(rows[0].columns)
    words = []
    for index, row in enumerate(rows):
        # Where tabs separate columns, a cell may be empty. CoNLL-2012 has a `-` in its place.
        fixed_cells = [cell or "-" for cell in row.columns[:FIXED_COLUMNS]]
        word = ConllWord(row.line, *fixed_cells)
        frames = row.columns[FIXED_COLUMNS:end_of_arguments]
        words.append(word._replace(number=str(index), frames=frames))
    return _with_one_verb_each(words, report)


def _check_columns(rows: Sequence[Row]) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the rows do not have the columns of
    CoNLL-2012, or are more than one sentence.
    """
    line, first = rows[0]
    numbers = [row.columns[NUMBER_COLUMN] for row in rows if len(row.columns) >= FIXED_COLUMNS]
    # A document may be called 1, so a number in another column does not matter if the column of
    # the numbers counts the words.
    is_other_form = _has_numbers_of_words_elsewhere(rows) and not _are_counting(numbers)
    if not numbers or is_other_form:
        first_cells = " ".join(first[: WORD_COLUMN + 1])
        raise line.error(
            "expected JSON lines or CoNLL-2012 (document, part, word number, word, …, "
            f"{FIXED_COLUMNS} columns, those of predicates and coreference), got {len(first)}, "
            f"{first_cells!r} …"
        )
    check_lengths(rows)
    check_words(rows, column=WORD_COLUMN)
    for row in rows:
        if not row.columns[WORD_COLUMN]:
            raise row.line.error(f"expected a word in column {WORD_COLUMN + 1}, got ''")
    check_numbers(rows, column=NUMBER_COLUMN)
    check_entities(rows, speaker_column=SPEAKER_COLUMN)


def _has_numbers_of_words_elsewhere(rows: Sequence[Row]) -> bool:
    """
    Returns whether the numbers of words seem to be in the first column, as in CoNLL-U, or in the
    column of the words, because the file has an additional column before it.
    """
    if WORD_NUMBER.fullmatch(rows[0].columns[0]):
        return True
    if len(rows) == 1:
        return False  # a single word may be a number
    words = [row.columns[WORD_COLUMN] for row in rows if len(row.columns) > WORD_COLUMN]
    return _are_counting(words)


def _are_counting(numbers: Sequence[str]) -> bool:
    """Returns whether each number is one more than the number before it."""
    if not all(is_whole_number(number) for number in numbers):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def _with_one_verb_each(words: list[ConllWord], report: Report) -> list[ConllWord]:
    """
    Returns the words of a sentence with `(V*)` only once in each column of arguments.

    The first column belongs to the first predicate, the second column to the second predicate, and
    so on. The words are returned unchanged if the sentence has more or fewer predicates than
    columns of arguments, because a column may then belong to any of them.
    """
    # The positions of the words that have a lemma and a frameset.
    predicates = [index for index, word in enumerate(words) if word.is_predicate]
    num_columns = len(words[0].frames)
    if len(predicates) != num_columns:
        return words
    columns = []
    for number, predicate in enumerate(predicates):
        labels = [word.frames[number] for word in words]
        columns.append(_with_one_verb(labels, predicate, predicates, report))
    mended_words = []
    for index, word in enumerate(words):
        frames = [labels[index] for labels in columns]
        mended_words.append(word._replace(frames=frames))
    return mended_words


def _with_one_verb(
    labels: Sequence[str], predicate: int, predicates: Sequence[int], report: Report
) -> list[str]:
    """
    Returns a column of arguments with `(V*)` at its predicate, and at no other predicate of the
    sentence. A column that does not fit its predicate is returned unchanged: it will raise an error
    when the sentence is parsed.
    """
    mended = list(labels)
    verbs = {index for index, label in enumerate(labels) if label.startswith("(V*")}
    are_at_predicates = predicate in verbs and verbs <= set(predicates)
    if not verbs and labels[predicate] == "*":
        mended[predicate] = _VERB
        report.took("predicates without (V*) are the words with a lemma and a frameset")
    elif are_at_predicates and len(verbs) > 1:
        for other in verbs - {predicate}:
            mended[other] = labels[other].replace(_VERB, "*")
        report.took(
            "each column of arguments has (V*) at all predicates of a sentence, as WebAnno "
            "writes it; the first column is of the first lemma, and so on"
        )
    return mended
