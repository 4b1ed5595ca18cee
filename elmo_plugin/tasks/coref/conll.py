"""Documents with their clusters of mentions, in files of CoNLL-2012."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.files import atomic_write
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    escape_word,
    locate_label_errors,
    row_kind,
    unescape_word,
)
from elmo_plugin.tasks.coref.clusters import Mention, format_clusters, parse_clusters
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, read_text_lines

_BEGIN = re.compile(r"\s*#begin document \((?P<name>.*)\);(?:\s*part\s+(?P<part>\d+))?\s*", re.ASCII)
_SPEAKER = 9
NO_SPEAKER = "-"


class CorefDocument(NamedTuple):
    """A document or a part of one, with its clusters of mentions."""

    name: str  # such as "nw/wsj/24/wsj_2401"
    part: str  # its number as in the file, such as "000", or empty
    sentences: list[list[str]]  # with brackets and quotation marks as in plain text
    speakers: list[list[str]]  # of each word, "-" if unknown
    genre: str  # the part of the name before the first "/"
    clusters: list[list[Mention]]
    file: str = ""
    first_line: int = 1
    text: str | None = None  # by default the words, joined by spaces
    places: list[tuple[int, int]] | None = None  # start and end of each word in `text`

    @property
    def length(self) -> int:
        """The number of its words."""
        return sum(map(len, self.sentences))

    @property
    def title(self) -> str:
        """Name and part, by which the scorer finds a document."""
        return f"({self.name});" + (f" part {self.part}" if self.part else "")

    @property
    def location(self) -> str:
        """File and line, with which an error message begins."""
        return f"{self.file}, line {self.first_line}"


def read_documents(path: str | os.PathLike[str]) -> Iterator[CorefDocument]:
    """
    Reads documents, one word per line, between `#begin document (NAME); part 000` and `#end document`. The
    columns are document, part, word number, word, part of speech, parse, lemma and frameset of the predicate,
    sense, speaker, named entity, then any number of others, and coreference. Blank lines separate sentences.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    return parse_documents(read_text_lines(str(path)))


def parse_documents(lines: Iterable[Line]) -> Iterator[CorefDocument]:
    """Yields the documents of the lines of a file, see `read_documents`."""
    begin: Line | None = None
    rows: list[Row] = []
    for line in lines:
        columns = line.columns
        kind = row_kind(columns)
        if kind == "mark" and columns[0] == "#begin":
            _check_end(begin)
            begin, rows = line, []
        elif begin is not None and kind == "mark":
            yield _parse_document(begin, rows)
            begin = None
        elif begin is not None:
            rows.append((line, columns))
        elif columns:
            raise ConfigurationError(f"{line.location}: expected #begin document, got {columns[0]!r}")
    _check_end(begin)


def _check_end(begin: Line | None) -> None:
    if begin is not None:
        raise ConfigurationError(f"{begin.location}: the document that begins here lacks #end document")


def _parse_document(begin: Line, rows: list[Row]) -> CorefDocument:
    match = _BEGIN.fullmatch(begin.text)
    if match is None:
        raise ConfigurationError(f"{begin.location}: expected #begin document (NAME); part 000")
    sentences = [list(group) for is_word, group in groupby(rows, lambda row: bool(row[1])) if is_word]
    if not sentences:
        raise ConfigurationError(f"{begin.location}: the document that begins here is empty")
    for sentence in sentences:
        expected = max(len(sentence[0][1]), FIXED_COLUMNS + 1)
        check_columns(
            sentence, expected, f"{FIXED_COLUMNS} of CoNLL-2012 and others, the last is coreference"
        )
    words = [row for sentence in sentences for row in sentence]
    with locate_label_errors(words):
        clusters = parse_clusters([columns[-1] for _, columns in words])
    return CorefDocument(
        name=match["name"],
        part=match["part"] or "",
        sentences=[[unescape_word(columns[3]) for _, columns in sentence] for sentence in sentences],
        speakers=[[columns[_SPEAKER] for _, columns in sentence] for sentence in sentences],
        genre=genre_in(match["name"]),
        clusters=clusters,
        file=begin.file,
        first_line=begin.number,
    )


def genre_in(name: str) -> str:
    """Returns the part of the name of a document before the first "/", or nothing."""
    genre, slash, _ = name.partition("/")
    return genre if slash else ""


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
