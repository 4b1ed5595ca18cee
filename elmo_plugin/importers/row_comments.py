"""Comments among rows of words: they begin with "#", and so do some words."""

import re
from collections.abc import Sequence

from elmo_plugin.importers.column_names import is_word_class, known_header
from elmo_plugin.importers.tables import Row
from elmo_plugin.tasks.spans import parse_tag

Rows = list[Row | None]
"""Rows, and `None` between sentences."""

_KEY_AND_VALUE = re.compile(r"# *\S+ +=( |$)")  # as "# text = It rained."


def without_comments(rows: Rows) -> Rows:
    """
    Leaves out comments. A header stays, even if it begins with "#". If no blank lines separate
    sentences, comments separate them, and become `None`.
    """
    words = [row for row in rows if row is not None and not _has_hash(row)]
    if not words:
        return rows
    values = _values_of_columns(words)
    first_word = rows.index(words[0])
    last_word = rows.index(words[-1])
    has_blank_lines = None in rows[first_word:last_word]
    kept: Rows = []
    for number, row in enumerate(rows):
        if row is None or not _has_hash(row):
            kept.append(row)
            continue
        is_above_words = number < first_word
        is_header = is_above_words and bool(known_header(row.fields))
        if is_header or _is_word(row.fields, values):
            kept.append(row)
        elif not has_blank_lines:
            kept.append(None)
    return kept


def _has_hash(row: Row) -> bool:
    """Returns whether a row begins with "#", as comments and some words do."""
    return row.fields[0].startswith("#")


def _values_of_columns(words: Sequence[Row]) -> list[set[str]]:
    """Returns the values that occur in each column of words. Shorter or longer rows are titles."""
    # Titles may stand above the words, but not below them: the last row is certainly a word.
    width = len(words[-1].fields)
    values: list[set[str]] = [set() for _ in range(width)]
    for row in words:
        if len(row.fields) == width:
            for number, field in enumerate(row.fields):
                values[number].add(field)
    return values


def _is_word(fields: Sequence[str], values: Sequence[set[str]]) -> bool:
    """
    Returns whether a row that begins with "#" is a word. It is if its last field is a tag, or if
    other words have the same value as it in one of the columns behind the first. `values` has the
    values of each column.
    """
    if len(fields) != len(values) or " " in fields[0]:
        return False
    if _KEY_AND_VALUE.match(" ".join(fields)):
        return False
    last = fields[-1]
    tag = parse_tag(last)
    if last == "O" or (tag is not None and tag.kind):
        return True
    if last == "#":  # the part of speech of the word #, as the Penn Treebank has it
        return True
    if fields[0] != "#" and is_word_class(last):  # such as a hash tag and its part of speech
        return True
    return any(fields[number] in values[number] for number in range(1, len(fields)))
