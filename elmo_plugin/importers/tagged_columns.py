"""Tagged sentences of columns and of tables: a word in each row, or a sentence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.cells import list_in_cell
from elmo_plugin.importers.column_finder import ColumnFinder
from elmo_plugin.importers.column_names import is_word_class
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.table_text import has_quoted_fields
from elmo_plugin.importers.tables import (
    Row,
    Table,
    is_binary_table,
    is_table_file,
    read_table,
    read_text_table,
    separator_in_name,
)
from elmo_plugin.importers.tagged_file import TaggedFile
from elmo_plugin.importers.tagged_json import sentences_of_records, split_words_and_tags
from elmo_plugin.importers.tagged_sentence import TaggedSentence
from elmo_plugin.importers.word_columns import (
    WordColumns,
    columns_of_table,
    columns_of_text,
    have_tabs,
)

_BEGINNING_OF_LIST = re.compile(r"""\"?\[\s*['"\d{]""")
_FIRST_LINES = 50  # that show whether fields are lists
_MOST_WORDS_OF_TYPE = 3


def has_binary_table(source: TaggedFile) -> bool:
    """Returns whether a file is a table that is not text, such as a spreadsheet."""
    return is_binary_table(source.file)


def sentences_of_binary_table(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of a table that is not text."""
    table = read_table(source.file, source.options, source.report)
    return _sentences_of_table(table, source)


def has_separated_values(source: TaggedFile) -> bool:
    """
    Returns whether a file is read as a table, and not line by line: a separator such as a semicolon
    is chosen, or its name says that it is CSV, or that tabs separate its columns while some of its
    fields are lists.
    """
    if source.options.separator not in (None, "\t", " "):
        return True
    if not is_table_file(source.file):
        return False
    if separator_in_name(source.file) != "\t":
        return True
    for line in source.lines[1:_FIRST_LINES]:  # below the header
        if any(_BEGINNING_OF_LIST.match(field) for field in line.split("\t")):
            return True
    return False


def sentences_of_separated_values(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of a table such as CSV."""
    table = read_text_table(source.file, source.text, source.options, source.report)
    return _sentences_of_table(table, source)


def has_quoted_tabs(source: TaggedFile) -> bool:
    """Returns whether tabs separate the columns of a file, and quotation marks enclose fields."""
    return have_tabs(source.lines) and has_quoted_fields(source.text, "\t")


def sentences_of_quoted_tabs(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of a table between tabs."""
    options = replace(source.options, separator="\t")
    table = read_text_table(source.file, source.text, options, source.report)
    return _sentences_of_table(table, source)


def sentences_of_columns(source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of columns between tabs or spaces, with a word in each line."""
    options = source.options
    columns = columns_of_text(
        source.file, source.lines, options.separator, chosen=options.columns.values()
    )
    return _sentences_of_words(columns, source)


def _sentences_of_table(table: Table, source: TaggedFile) -> Iterator[TaggedSentence]:
    """Yields the sentences of a table whose rows are whole sentences, or else words."""
    records = _records_of_table(table)  # one for each row, or none if rows are words
    if records:
        return sentences_of_records(records, source)
    _refuse_left_out_rows(table, source.report)  # such a row would be missing from its sentence
    columns = columns_of_table(table, chosen=source.options.columns.values())
    return _sentences_of_words(columns, source)


def _records_of_table(table: Table) -> list[Record]:
    """
    Returns a record for each row if rows are whole sentences. The first row names the fields of the
    records. Returns an empty list if rows are words.
    """
    rows = [row for row in table.rows if not row.is_blank]
    if len(rows) < 2 or not _are_sentences(rows[1:]):
        return []
    names = rows[0].fields
    records = []
    for row in rows[1:]:
        fields = dict(zip(names, row.fields, strict=True))
        records.append(Record(table.file, row.place, fields))
    return records


def _are_sentences(rows: Sequence[Row]) -> bool:
    """
    Returns whether rows are whole sentences: some fields are lists, or the fields of one column
    have a tag for each word of another column.
    """
    for row in rows:
        if any(isinstance(list_in_cell(field), list) for field in row.fields):
            return True
    for number in range(len(rows[0].fields)):
        if all(_has_tags_of_another(row.fields, number) for row in rows):
            return True
    return False


def _has_tags_of_another(fields: Sequence[str], number: int) -> bool:
    """Returns whether a field has a tag for each word of another field."""
    for other, text in enumerate(fields):
        if other != number and split_words_and_tags(text, fields[number]) is not None:
            return True
    return False


def _sentences_of_words(columns: WordColumns, source: TaggedFile) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of columns, with their documents if there are several. A word with an empty
    tag gets the tag O.
    """
    if not columns.sentences:
        return
    word_column, tag_column = _find_columns(columns, source)
    source.report.took(
        f"the words are in column {columns.name(word_column)!r}, the tags in column "
        f"{columns.name(tag_column)!r}"
    )
    num_untagged = 0
    documents = {rows[0].document for rows in columns.sentences}
    for rows in columns.sentences:
        tags = []
        for row in rows:
            tag = _tag_as_one_word(row.fields[tag_column])
            if not tag:
                num_untagged += 1
                tag = "O"
            tags.append(tag)
        places = [row.place for row in rows]
        words = [row.fields[word_column] for row in rows]
        yield TaggedSentence(places, words, tags, rows[0].document)
    if len(documents) > 1:
        source.report.took(f"{len(documents):,} documents; --split keeps them whole")
    if num_untagged:
        source.report.took(f"{num_untagged:,} words without a tag are O")


def _tag_as_one_word(tag: str) -> str:
    """
    Returns a tag that is a type of several words, such as "natural person", with underscores for
    spaces. Other tags are returned unchanged.
    """
    words = tag.split(" ")
    if len(words) > _MOST_WORDS_OF_TYPE or not all(word.isalpha() for word in words):
        return tag
    if any(is_word_class(word) for word in words):
        return tag  # such as "NN VB": two tags, and an error later
    return "_".join(words)


def _find_columns(columns: WordColumns, source: TaggedFile) -> tuple[int, int]:
    """
    Returns the column of the words and the column of the tags. Each of them is chosen by the
    options, or else found by its name or its contents.
    """
    finder = ColumnFinder(columns)
    chosen_word = source.options.columns.get("word")
    chosen_tag = source.options.columns.get("tag")
    word = None
    if chosen_word is not None:
        word = finder.resolve(chosen_word, "word")
    if chosen_tag is None:
        tag = finder.find_tags(word, source.prefers_entities)
    else:
        tag = finder.resolve(chosen_tag, "tag")
    if word is None:  # found after the tags, because words may be in any other column
        word = finder.find_words(tag)
    if word == tag:
        raise finder.error(f"--column: word and tag are the same column, {tag}")
    return word, tag


def _refuse_left_out_rows(table: Table, report: Report) -> None:
    """Raises `ConfigurationError`, naming file and line, if a row of the table was left out."""
    if report.left_out:
        reason = next(iter(report.left_out))
        place = report.left_out[reason][0]
        raise ConfigurationError(
            f"{table.file}, {place}: a row {reason}; --separator names what separates them"
        )
