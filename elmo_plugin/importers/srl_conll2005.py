"""
Semantic roles in CoNLL-2005's columns: the words, perhaps their annotation, the lemmas of
predicates, and a column of brackets for each predicate.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from elmo_plugin.importers.loose_columns import check_lengths, split_rows
from elmo_plugin.importers.srl_propositions import proposition_sentence
from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.sentences import SrlSentence

_VERB = "(V*"


def find_lemmas(lines: Sequence[Line]) -> int | None:
    """
    Returns the column with the lemmas of predicates: the one before the first `(V*`, in the column
    of the first predicate. Returns `None` if no `(V*` has a column before it, or if the columns are
    CoNLL-2012's.
    """
    for line in lines:
        columns = line.columns
        if line.text.startswith("#"):
            continue  # a comment, or the word "#": it is no predicate
        is_conll2012 = len(columns) >= FIXED_COLUMNS and columns[2].isdecimal()
        if is_conll2012:
            return None
        for number, column in enumerate(columns):
            if column.startswith(_VERB):
                if number == 0:
                    return None
                return number - 1
    return None


def read_conll2005(lines: Sequence[Line], lemma_column: int) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence, given the column of the lemmas.

    Raises `ConfigurationError`, naming file and line, if the words or the lemmas are missing,
    or a column of arguments is malformed.
    """
    for is_blank, group in groupby(lines, key=lambda line: not line.text.strip()):
        if is_blank:
            continue
        rows = split_rows(list(group))
        if not rows:  # nothing but comments
            continue
        first = rows[0].line
        if lemma_column == 0:
            raise first.error(
                "expected the words before the lemmas of predicates, got propositions alone; "
                "`paste words props` joins the two files"
            )
        check_lengths(rows)
        if len(rows[0].columns) <= lemma_column:
            raise first.error(
                f"expected the lemmas of predicates in column {lemma_column + 1}, got "
                f"{len(rows[0].columns)} columns"
            )
        words = [row.columns[0] for row in rows]
        yield first, proposition_sentence(rows, lemma_column)._replace(words=words)
