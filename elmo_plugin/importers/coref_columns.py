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
from elmo_plugin.tasks.coref.conll import located_clusters, parse_title
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.dataset_reader import Line

_USUAL_WORD_COLUMN = 3
_FROM_WORD_TO_SPEAKER = 6  # columns of CoNLL-2012
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
        sentences = [rows for rows in map(split_rows, document.sentences) if rows]
        if not sentences:
            raise document.begin.error("the document that begins here is empty")
        yield _document_of(document, sentences, report)


def without_comments(lines: Iterable[Line]) -> Iterator[Line]:
    """Yields the lines without the comments between documents."""
    is_inside = False
    for line in lines:
        kind = line_kind(line)
        if kind in ("begin", "end"):
            is_inside = kind == "begin"
        if is_inside or kind != "word" or not line.text.startswith("#"):
            yield line


def _document_of(
    document: DocumentLines, sentences: Sequence[list[Row]], report: Report
) -> CorefDocument:
    """Returns the document of some sentences. Raises errors as `read_coref_columns` does."""
    name, part = parse_title(document.begin)
    column = _find_words(sentences, name)
    report.took(f"the words are in column {column + 1}")
    words = []
    speakers = []
    mentions = []
    for rows in sentences:
        check_lengths(rows)
        check_words(rows, column)
        if column > 0:
            check_numbers(rows, column - 1)
        words.append([unescape_word(row.columns[column]) for row in rows])
        speakers.append(_speakers(rows, column))
        if len(rows[0].columns) > column + 1 and has_coreference(rows):
            mentions += [row.columns[-1] for row in rows]
        else:
            mentions += ["-"] * len(rows)
    lines = [row.line for rows in sentences for row in rows]
    clusters = located_clusters(mentions, lines)
    begin = document.begin
    return CorefDocument(
        name=name,
        part=part,
        sentences=words,
        speakers=speakers,
        genre=genre_in(name),
        clusters=clusters,
        file=begin.file,
        first_line=begin.number,
    )


def _find_words(sentences: Sequence[list[Row]], name: str) -> int:
    """
    Returns the usual column of words, or else the first one in which the words of a sentence
    differ. Columns that have only the document's name or numbers are none. Raises
    `ConfigurationError`, naming file and line, if no column is found.
    """
    width = min(max(len(rows[0].columns) for rows in sentences), FIXED_COLUMNS)
    whole = [rows for rows in sentences if min(len(row.columns) for row in rows) >= width]
    candidates = range(max(width - 1, 1))
    texts = [column for column in candidates if not _has_names_or_numbers(whole, column, name)]
    # In CoNLL-2012, two columns of numbers stand before the words.
    if width == FIXED_COLUMNS and 1 not in texts and 2 not in texts:
        return _USUAL_WORD_COLUMN
    for column in texts:
        if _differs(whole, column):
            return column
    if len(texts) == 1:
        return texts[0]
    first = sentences[0][0]
    raise first.line.error(
        "expected a word, alone or after document, part or number, then coreference, got "
        f"{' '.join(first.columns)!r}"
    )


def _differs(sentences: Sequence[list[Row]], column: int) -> bool:
    """Returns whether a column has different texts in a sentence."""
    return any(len({row.columns[column] for row in rows}) > 1 for rows in sentences)


def _has_names_or_numbers(sentences: Sequence[list[Row]], column: int, name: str) -> bool:
    """Returns whether a column has only the document's name or numbers."""
    for rows in sentences:
        for row in rows:
            text = row.columns[column]
            if text != name and not _NUMBER.fullmatch(text):
                return False
    return True


def _speakers(rows: Sequence[Row], words: int) -> list[str]:
    """Returns the speaker of each word, if the columns are CoNLL-2012's."""
    speaker = words + _FROM_WORD_TO_SPEAKER
    if words < _USUAL_WORD_COLUMN or len(rows[0].columns) < speaker + 2:
        return [NO_SPEAKER] * len(rows)
    check_entities(rows, speaker)
    speakers = []
    for row in rows:
        name = row.columns[speaker]
        if name in NO_ANNOTATION:
            name = NO_SPEAKER
        speakers.append(name)
    return speakers
