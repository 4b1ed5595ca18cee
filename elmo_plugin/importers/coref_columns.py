"""
Documents in columns like CoNLL-2012's. They may have comments, or lack coreference. They may also
lack other columns: SemEval-2010's files do, and some files have only words and their mentions.
"""

from collections.abc import Iterable, Iterator, Sequence

from elmo_plugin.importers.loose_columns import (
    NUMBER_COLUMN,
    PART_COLUMN,
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


def read_coref_columns(lines: Iterable[Line], report: Report) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file, each between `#begin document (NAME); part 000` and `#end
    document`.

    Raises `ConfigurationError`, naming file and line, if the words cannot be found, a bracket is
    malformed or lacks its other half, or a document is empty or does not end.
    """
    for document in split_documents(without_comments(lines)):
        if not document.has_end:
            raise missing_end_error(document)
        yield _parse_document(document, report)


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
    """Returns the rows of each sentence of a document. A sentence of comments alone is left out."""
    sentences = []
    for lines in document.sentences:
        rows = split_rows(lines)
        if rows:
            sentences.append(rows)
    return sentences


def _parse_document(document: DocumentLines, report: Report) -> CorefDocument:
    """Parses the lines of a document. Raises the errors that `read_coref_columns` describes."""
    name, part = parse_title(document.begin)
    sentences = rows_of_sentences(document)
    if not sentences:
        raise document.begin.error("the document that begins here is empty")
    word_column = _find_word_column(sentences, name)
    report.took(f"the words are in column {word_column + 1}")
    words = []
    speakers = []
    # Labels are collected for the whole document: a mention may end in a later sentence.
    labels = []
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


def _find_word_column(sentences: Sequence[list[Row]], name: str) -> int:
    """
    Returns the column of the words in a document of this name. If the columns may be CoNLL-2012's,
    it is the fourth one. Otherwise, it is the first one that differs within a sentence, and has
    something else than the document's name and numbers. Raises `ConfigurationError`, naming file
    and line, if no column is found.
    """
    width = min(max(len(rows[0].columns) for rows in sentences), FIXED_COLUMNS)
    # Sentences with a line that is too short are skipped here. `check_lengths` refuses them later,
    # or now if nothing else is left to look at.
    complete = [rows for rows in sentences if min(len(row.columns) for row in rows) >= width]
    if not complete:
        for rows in sentences:
            check_lengths(rows)
    candidates = range(max(width - 1, 1))  # the last of several columns may have coreference
    texts = [column for column in candidates if not _has_names_or_numbers(complete, column, name)]
    has_numbers_before_words = PART_COLUMN not in texts and NUMBER_COLUMN not in texts
    if width == FIXED_COLUMNS and has_numbers_before_words:
        return WORD_COLUMN
    for column in texts:
        if _has_different_texts(complete, column):
            return column
    if len(texts) == 1:  # each sentence has a single word, or repeats it
        return texts[0]
    first = sentences[0][0]
    raise first.line.error(
        "expected a word, alone or after document, part or number, then coreference, got "
        f"{' '.join(first.columns)!r}"
    )


def _has_different_texts(sentences: Sequence[list[Row]], column: int) -> bool:
    """Returns whether any sentence has different texts in a column."""
    return any(len({row.columns[column] for row in rows}) > 1 for rows in sentences)


def _has_names_or_numbers(sentences: Sequence[list[Row]], column: int, name: str) -> bool:
    """Returns whether a column has nothing but the name of the document and numbers."""
    for rows in sentences:
        for row in rows:
            text = row.columns[column]
            if text != name and not WORD_NUMBER.fullmatch(text):
                return False
    return True


def _speakers(rows: Sequence[Row], word_column: int) -> list[str]:
    """
    Returns the speaker of each word of a sentence, or `NO_SPEAKER` if the columns are not
    CoNLL-2012's. There may be additional columns before CoNLL-2012's.
    """
    num_additional = word_column - WORD_COLUMN
    speaker_column = SPEAKER_COLUMN + num_additional
    entity_column = speaker_column + 1
    if num_additional < 0 or len(rows[0].columns) <= entity_column:
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
    Returns the coreference label of each word of a sentence, such as `(12`, from the last column.
    If the last column does not have coreference, each label is `-`.
    """
    has_columns_behind_words = len(rows[0].columns) > word_column + 1
    if has_columns_behind_words and has_coreference(rows):
        return [row.columns[-1] for row in rows]
    return ["-"] * len(rows)
