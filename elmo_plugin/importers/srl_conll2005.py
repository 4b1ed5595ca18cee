"""
Semantic roles in CoNLL-2005's columns: the words, perhaps their annotation, the lemmas of
predicates, and a column of brackets for each predicate.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from elmo_plugin.importers.loose_columns import NUMBER_COLUMN, Row, check_lengths, split_rows
from elmo_plugin.importers.srl_propositions import proposition_sentence
from elmo_plugin.tasks.conll2012 import FIXED_COLUMNS
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.sentences import SrlSentence

_VERB = "(V*"


def find_lemmas(lines: Sequence[Line]) -> int | None:
    """
    Returns the number of the column with the lemmas of predicates, from 0.

    The first `(V*` of a file marks the first predicate of a sentence. It is in the first column of
    arguments, and the lemmas are in the column before that. Returns `None` if the file lacks
    `(V*` or a column before it, or if its columns are CoNLL-2012's.
    """
    for line in lines:
        if line.text.startswith("#"):
            continue  # a comment, or the word "#", and neither is a predicate
        cells = line.columns
        if has_number_of_word(cells):
            return None  # CoNLL-2012
        for column, cell in enumerate(cells):
            if cell.startswith(_VERB):
                if column == 0:
                    return None
                return column - 1
    return None


def has_number_of_word(cells: Sequence[str]) -> bool:
    """Returns whether a line has the number of its word in the third column, as in CoNLL-2012."""
    return len(cells) >= FIXED_COLUMNS and cells[NUMBER_COLUMN].isdecimal()


def read_conll2005(lines: Sequence[Line], lemma_column: int) -> Iterator[tuple[Line, SrlSentence]]:
    """
    Yields the first line of each sentence, and the sentence. The lemmas are in `lemma_column`.

    Raises `ConfigurationError`, naming file and line, if the words or the lemmas are missing,
    or a column of arguments is malformed.
    """
    for is_blank, group in groupby(lines, key=lambda line: not line.text.strip()):
        if is_blank:
            continue
        rows = split_rows(list(group))
        if not rows:  # only comments
            continue
        _check_columns(rows, lemma_column)
        sentence_without_words = proposition_sentence(rows, lemma_column)
        words = [row.columns[0] for row in rows]
        yield rows[0].line, sentence_without_words._replace(words=words)


def _check_columns(rows: Sequence[Row], lemma_column: int) -> None:
    """
    Raises `ConfigurationError`, naming file and line, if the words or the lemmas of a sentence are
    missing, or if its rows differ in length.
    """
    first, cells = rows[0]
    if lemma_column == 0:
        raise first.error(
            "expected the words before the lemmas of predicates, got propositions alone; "
            "`paste words props` joins the two files"
        )
    check_lengths(rows)
    if len(cells) <= lemma_column:
        raise first.error(
            f"expected the lemmas of predicates in column {lemma_column + 1}, got "
            f"{len(cells)} columns"
        )
