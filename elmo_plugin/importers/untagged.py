"""The words of sentences in columns, to be tagged. Other columns are not looked at."""

from collections.abc import Iterator
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.column_finder import ColumnFinder
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_lines
from elmo_plugin.importers.word_columns import columns_of_text


class UntaggedSentence(NamedTuple):
    """The words of a sentence, and the line of the first in its file."""

    line: int
    words: list[str]


def read_untagged(file: str, report: Report) -> Iterator[UntaggedSentence]:
    """
    Yields the sentences of a file with a word in each row, such as CoNLL-U, with or without tags.
    The report says in which column the words are.

    Raises `ConfigurationError`, naming the file, if it lacks sentences, or if more than one column
    may have the words.
    """
    columns = columns_of_text(file, read_lines(file, ImportOptions(), report))
    if not columns.sentences:
        raise ConfigurationError(f"{file}: no sentences in this file")
    column = ColumnFinder(columns).find_words()
    report.took(f"columns, whose words are in column {columns.name(column)!r}")
    for rows in columns.sentences:
        words = [row.fields[column] for row in rows if row.fields[column].strip()]
        if words:
            yield UntaggedSentence(rows[0].line, words)
