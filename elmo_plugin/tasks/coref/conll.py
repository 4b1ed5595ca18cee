"""Files of documents: the columns of CoNLL-2012, or JSON lines."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, groupby

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.files import atomic_write
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NOTHING,
    TABS,
    document_title,
    escape_word,
    is_counting,
    line_kind,
    locate_label_errors,
    split_sentence,
    unescape_words,
)
from elmo_plugin.tasks.coref.clusters import format_clusters, parse_clusters
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, document_in, genre_in
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, read_text_lines
from elmo_plugin.tasks.records import parse_records

_TITLE = re.compile(r"(?:\((?P<name>.*)\)|(?P<bare>[^(;]+));?(?:\s*part\s+(?P<part>\d+))?", re.ASCII)


FORMATS = ("auto", "conll2012", "jsonl")


def read_documents(path: str | os.PathLike[str], *, only_clusters: bool = False) -> Iterator[CorefDocument]:
    """
    Reads documents, one word per line, between `#begin document (NAME); part 000` and `#end document`. The
    columns are document, part, word number, word, part of speech, parse, lemma and frameset of the predicate,
    sense, speaker, named entity, then any number of others, and coreference; or only some before the word,
    and coreference. Tabs or white space separate columns, blank lines sentences.

    A file that begins with `{` has a document in each line, see `document_in`.

    `only_clusters` is for files to score, and less strict, as the reference scorer is: the words are any
    column, lines may differ in length, a document may be empty, and the last one of the file may lack its
    end.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    return parse_documents(read_text_lines(str(path)), only_clusters=only_clusters)


def parse_documents(
    lines: Iterable[Line], *, format: str = "auto", only_clusters: bool = False
) -> Iterator[CorefDocument]:
    """Yields the documents of the lines of a file in one of `FORMATS`, see `read_documents`."""
    lines = dropwhile(_is_blank, lines)
    for first in lines:
        lines = chain([first], lines)
        if format == "jsonl" or (format == "auto" and first.text.lstrip().startswith(("{", "["))):
            yield from map(document_in, parse_records(lines, format="jsonl"))
        else:
            yield from _parse_columns(lines, only_clusters)


def _parse_columns(lines: Iterable[Line], only_clusters: bool) -> Iterator[CorefDocument]:
    begin: Line | None = None
    inside: list[Line] = []
    for line in lines:
        kind = line_kind(line)
        if kind == "begin":
            _check_end(begin)
            begin, inside = line, []
        elif kind == "end" and begin is not None:
            yield _parse_document(begin, inside, only_clusters)
            begin = None
        elif begin is not None:
            inside.append(line)
        elif kind == "word" and not line.text.startswith("#"):
            raise ConfigurationError(
                f"{line.location}: expected #begin document (NAME); part 000, got {line.columns[0]!r}"
            )
    if begin is not None and only_clusters:
        yield _parse_document(begin, inside, only_clusters)
    else:
        _check_end(begin)


def _check_end(begin: Line | None) -> None:
    if begin is not None:
        raise ConfigurationError(f"{begin.location}: the document that begins here lacks #end document")


def _parse_document(begin: Line, lines: list[Line], only_clusters: bool) -> CorefDocument:
    match = _TITLE.fullmatch(document_title(begin))
    if match is None:
        raise ConfigurationError(f"{begin.location}: expected #begin document (NAME); part 000")
    groups = (list(group) for is_blank, group in groupby(lines, key=_is_blank) if not is_blank)
    sentences = [rows for rows in map(split_sentence, groups) if rows]
    if not sentences and not only_clusters:
        raise ConfigurationError(f"{begin.location}: the document that begins here is empty")
    for sentence in () if only_clusters else sentences:
        check_columns(sentence, len(sentence[0][1]), f"as in line {sentence[0][0].number}; {TABS}")
    words = [row for sentence in sentences for row in sentence]
    with locate_label_errors(words):
        clusters = parse_clusters([columns[-1] for _, columns in words])
    name: str = match["name"] or match["bare"] or ""
    column = 0 if only_clusters else _word_column(sentences, name)
    return CorefDocument(
        name=name,
        part=match["part"] or "",
        sentences=[unescape_words(rows, [columns[column] for _, columns in rows]) for rows in sentences],
        speakers=[_speakers(rows, column) for rows in sentences],
        genre=genre_in(name),
        clusters=clusters,
        file=begin.file,
        first_line=begin.number,
    )


def _is_blank(line: Line) -> bool:
    return not line.text.strip()


def _word_column(sentences: list[list[Row]], name: str) -> int:
    """Returns the column after the numbers of words, or the usual one if no column has such numbers."""
    line, columns = sentences[0][0]
    width = min(len(rows[0][1]) for rows in sentences)

    def is_number(column: int) -> bool:
        return all(is_counting([row[column] for _, row in rows]) for rows in sentences)

    for number in (2, 3, 1, 0):
        if number < width - 2 and is_number(number):
            return number + 1
    usual = {2: 0, 3: 1}.get(width, 3 if width > FIXED_COLUMNS else -1)
    if usual < 0 or is_number(usual) or columns[usual] == name:
        raise ConfigurationError(
            f"{line.location}: expected a word, alone or after document, part or number, then coreference, "
            f"got {' '.join(columns)!r}"
        )
    return usual


def _speakers(rows: list[Row], word: int) -> list[str]:
    """Returns the speaker of each word. Raises `ConfigurationError` if names seem to have spaces."""
    speaker = word + 6
    if word < 3 or len(rows[0][1]) < speaker + 3:
        return [NO_SPEAKER] * len(rows)
    predicates = sum(row[word + 4] not in NOTHING for _, row in rows)
    for line, columns in rows:
        entity, after = ("*" in column or column in NOTHING for column in columns[speaker + 1 : speaker + 3])
        if after and not entity and "\t" not in line.text and len(columns) != speaker + 3 + predicates:
            raise ConfigurationError(
                f"{line.location}: expected the speaker and the named entity in columns {speaker + 1} and "
                f"{speaker + 2}, got {' '.join(columns[speaker : speaker + 3])!r}; {TABS}"
            )
    return [columns[speaker] or NO_SPEAKER for _, columns in rows]


def write_documents(path: str | os.PathLike[str], documents: Iterable[CorefDocument]) -> None:
    """
    Writes documents atomically, for `read_documents` and the reference scorer. For a response, replace the
    clusters of the documents of the key.

    Raises `ConfigurationError` if a document cannot be written.
    """
    with atomic_write(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for document in documents:
            try:
                file.writelines(f"{line}\n" for line in format_document(document))
            except ValueError as error:
                raise ConfigurationError(f"{path}, document {document.title}: {error}") from None


def format_document(document: CorefDocument) -> list[str]:
    """
    Returns the lines of a document, without line ends. Tabs separate the columns: without them the reference
    scorer looks for brackets in the whole line and may mistake a word such as "8)" for one.

    Raises `ValueError` if it or a sentence is empty, or a name, a word or a cluster cannot be written.
    """
    if not document.sentences or not all(document.sentences):
        raise ValueError("a document or a sentence without words cannot be written")
    labels = iter(format_clusters(document.clusters, document.length))
    name, part = escape_word(document.name), str(int(document.part or 0))
    lines = [f"#begin document {document.title}"]
    for words, speakers in zip(document.sentences, document.speakers, strict=True):
        last = len(words) - 1
        for number, (word, speaker) in enumerate(zip(words, speakers, strict=True)):
            parse = f"{'(TOP' if number == 0 else ''}*{')' if number == last else ''}"
            fixed = [name, part, str(number), escape_word(word), "XX", parse, "-", "-", "-"]
            lines.append("\t".join([*fixed, escape_word(speaker), "*", next(labels)]))
        lines.append("")
    return [*lines, "#end document"]
