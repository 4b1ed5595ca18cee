"""
Documents in columns like CoNLL-2012's: with comments, without coreference, or with only some
columns before the word and coreference, such as SemEval-2010's or a word and its mentions.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

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
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    DocumentLines,
    line_kind,
    missing_end_error,
    split_documents,
    unescape_word,
)
from elmo_plugin.tasks.coref.conll import parse_clusters_in_lines, parse_title
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.dataset_reader import Line

_WORD_COLUMN = 3  # of CoNLL-2012
_SPEAKER_COLUMN = 9  # of CoNLL-2012
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")  # 8-9 and 8.1: as in CoNLL-U


def read_coref_columns(lines: Iterable[Line], report: Report) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file, each between `#begin document (NAME); part 000` and `#end
    document`.

    Raises `ConfigurationError`, naming file and line, if the columns are not known, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    for document in split_documents(without_comments(lines)):
        if not document.has_end:
            raise missing_end_error(document)
        yield _document_of(document, report)


def without_comments(lines: Iterable[Line]) -> Iterator[Line]:
    """
    Yields the lines without the comments between documents. Inside a document, a line that begins
    with # may be a word, and stays.
    """
    is_inside = False
    for line in lines:
        kind = line_kind(line)
        if kind == "begin":
            is_inside = True
        elif kind == "end":
            is_inside = False
        is_comment = not is_inside and kind == "word" and line.text.startswith("#")
        if not is_comment:
            yield line


def rows_of_sentences(document: DocumentLines) -> list[list[Row]]:
    """Returns the rows of each sentence of a document. Sentences of comments alone are left out."""
    sentences = []
    for lines in document.sentences:
        rows = split_rows(lines)
        if rows:
            sentences.append(rows)
    return sentences


def _document_of(document: DocumentLines, report: Report) -> CorefDocument:
    """Returns a document from its lines. Raises errors as `read_coref_columns` does."""
    name, part = parse_title(document.begin)
    sentences = rows_of_sentences(document)
    if not sentences:
        raise document.begin.error("the document that begins here is empty")
    word_column = _find_words(sentences, name)
    report.took(f"the words are in column {word_column + 1}")
    words = []
    speakers = []
    labels = []  # of all words of the document, as a mention may end in a later sentence
    for rows in sentences:
        check_lengths(rows)
        check_words(rows, word_column)
        if word_column > 0:  # the numbers of words, if there are any, stand before the words
            check_numbers(rows, word_column - 1)
        words.append([unescape_word(row.columns[word_column]) for row in rows])
        speakers.append(_speakers(rows, word_column))
        labels += _coreference_labels(rows, word_column)
    lines = [row.line for rows in sentences for row in rows]
    begin = document.begin
    return CorefDocument(
        name=name,
        part=part,
        sentences=words,
        speakers=speakers,
        genre=genre_in(name),
        clusters=parse_clusters_in_lines(labels, lines),
        file=begin.file,
        first_line=begin.number,
    )


def _find_words(sentences: Sequence[list[Row]], name: str) -> int:
    """
    Returns the column of the words in a document of this name: the fourth one, if the columns may
    be CoNLL-2012's, or else the first one in which the words of a sentence differ. A column
    that has only the document's name or numbers is not taken. Raises `ConfigurationError`, naming
    file and line, if no column is found.
    """
    width = min(max(len(rows[0].columns) for rows in sentences), FIXED_COLUMNS)
    # A line that is too short is reported after the column is known.
    whole = [rows for rows in sentences if min(len(row.columns) for row in rows) >= width]
    candidates = range(max(width - 1, 1))  # the last of several columns may have coreference
    texts = [column for column in candidates if not _has_names_or_numbers(whole, column, name)]
    # In CoNLL-2012, the part of the document and the number of the word stand before the words.
    if width == FIXED_COLUMNS and 1 not in texts and 2 not in texts:
        return _WORD_COLUMN
    for column in texts:
        if _differs(whole, column):
            return column
    if len(texts) == 1:  # all sentences have one word, or repeat it
        return texts[0]
    first = sentences[0][0]
    raise first.line.error(
        "expected a word, alone or after document, part or number, then coreference, got "
        f"{' '.join(first.columns)!r}"
    )


def _differs(sentences: Sequence[list[Row]], column: int) -> bool:
    """Returns whether any sentence has different texts in a column."""
    return any(len({row.columns[column] for row in rows}) > 1 for rows in sentences)


def _has_names_or_numbers(sentences: Sequence[list[Row]], column: int, name: str) -> bool:
    """Returns whether a column has nothing but the name of the document and numbers."""
    for rows in sentences:
        for row in rows:
            text = row.columns[column]
            if text != name and not _NUMBER.fullmatch(text):
                return False
    return True


def _speakers(rows: Sequence[Row], word_column: int) -> list[str]:
    """
    Returns the speaker of each word of a sentence: `NO_SPEAKER`, unless the columns are
    CoNLL-2012's, perhaps with others before them.
    """
    speaker_column = _SPEAKER_COLUMN + word_column - _WORD_COLUMN
    entity_column = speaker_column + 1
    if word_column < _WORD_COLUMN or len(rows[0].columns) <= entity_column:
        return [NO_SPEAKER] * len(rows)
    check_entities(rows, speaker_column)
    speakers = []
    for row in rows:
        speaker = row.columns[speaker_column]
        if speaker in NO_ANNOTATION:
            speaker = NO_SPEAKER
        speakers.append(speaker)
    return speakers


def _coreference_labels(rows: Sequence[Row], word_column: int) -> list[str]:
    """
    Returns the coreference label of each word of a sentence, such as `(12`, from the last column;
    `-` if that column has something else.
    """
    has_other_columns = len(rows[0].columns) > word_column + 1
    if has_other_columns and has_coreference(rows):
        return [row.columns[-1] for row in rows]
    return ["-"] * len(rows)
