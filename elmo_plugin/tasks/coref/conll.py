"""Files of documents: the columns of CoNLL-2012, or JSON lines."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, groupby

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    TAB_HINT,
    document_title,
    escape_word,
    is_predicate,
    line_kind,
    locate_label_errors,
    split_sentence,
    unescape_words,
)
from elmo_plugin.tasks.coref.clusters import format_clusters, parse_clusters
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, document_in, genre_in
from elmo_plugin.tasks.dataset_reader import Line, Row, check_columns, read_text_lines
from elmo_plugin.tasks.records import is_json, parse_records

_TITLE = re.compile(r"(?P<name>.+?);?(?:\s*part\s+(?P<part>\d+))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")  # 8-9 and 8.1: as in CoNLL-U
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
    """Yields the documents of the lines of a file in one of `FORMATS`."""
    lines = dropwhile(lambda line: not line.text.strip(), lines)
    for first in lines:
        lines = chain([first], lines)
        if format == "jsonl" or (format == "auto" and is_json(first)):
            yield from map(document_in, parse_records(lines, format="jsonl"))
        else:
            yield from _parse_columns(lines, only_clusters)


def _parse_columns(lines: Iterable[Line], only_clusters: bool) -> Iterator[CorefDocument]:
    begin: Line | None = None
    sentences: list[list[Row]] = []
    for kind, group in groupby(lines, key=line_kind):
        if kind == "word":
            sentences += filter(None, [split_sentence(list(group))])
            if sentences and begin is None:
                line, columns = sentences[0][0]
                raise ConfigurationError(
                    f"{line.location}: expected #begin document (NAME); part 000, got {columns[0]!r}"
                )
            continue
        for line in group:
            if kind == "begin":
                _check_end(begin)
                begin, sentences = line, []
            elif kind == "end" and begin is not None:
                yield _parse_document(begin, sentences, only_clusters)
                begin, sentences = None, []
    if begin is not None and only_clusters:
        yield _parse_document(begin, sentences, only_clusters)
    else:
        _check_end(begin)


def _check_end(begin: Line | None) -> None:
    if begin is not None:
        raise ConfigurationError(f"{begin.location}: the document that begins here lacks #end document")


def _parse_document(begin: Line, sentences: list[list[Row]], only_clusters: bool) -> CorefDocument:
    match = _TITLE.fullmatch(document_title(begin))
    if match is None:
        raise ConfigurationError(f"{begin.location}: expected #begin document (NAME); part 000")
    if not sentences and not only_clusters:
        raise ConfigurationError(f"{begin.location}: the document that begins here is empty")
    name = re.sub(r"^\((.*)\)$", r"\1", match["name"])
    word = 0
    if not only_clusters:
        for rows in sentences:
            check_columns(rows, len(rows[0][1]), f"as in line {rows[0][0].number}; {TAB_HINT}")
        word = _word_column(sentences, name)
        for rows in sentences:
            _add_coreference(rows, word)
    words = [row for rows in sentences for row in rows]
    with locate_label_errors(words):
        clusters = parse_clusters([columns[-1] for _, columns in words])
    return CorefDocument(
        name=name,
        part=match["part"] or "",
        sentences=[unescape_words(rows, [columns[word] for _, columns in rows]) for rows in sentences],
        speakers=[_speakers(rows, word) for rows in sentences],
        genre=genre_in(name),
        clusters=clusters,
        file=begin.file,
        first_line=begin.number,
    )


def _word_column(sentences: list[list[Row]], name: str) -> int:
    """Returns the usual column of words, or else the first one in which those of a sentence differ."""
    width = min(max(len(rows[0][1]) for rows in sentences), FIXED_COLUMNS)
    wide = [[row for _, row in rows] for rows in sentences if len(rows[0][1]) >= width]

    def is_text(column: int) -> bool:
        values = {row[column] for rows in wide for row in rows} - {name}
        return not all(map(_NUMBER.fullmatch, values))

    if width == FIXED_COLUMNS and not is_text(1) and not is_text(2):
        return 3
    texts = list(filter(is_text, range(max(width - 1, 1))))
    differ = [column for column in texts if any(len({row[column] for row in rows}) > 1 for rows in wide)]
    if not differ and len(texts) != 1:
        line, columns = sentences[0][0]
        raise ConfigurationError(
            f"{line.location}: expected a word, alone or after document, part or number, then coreference, "
            f"got {' '.join(columns)!r}"
        )
    return (differ or texts)[0]


def _add_coreference(rows: list[Row], word: int) -> None:
    """Adds the column of coreference to a sentence that ends with words, entities or predicates."""
    last = {columns[-1] for _, columns in rows}
    width = len(rows[0][1])
    ends_with_entities = word == 3 and width == FIXED_COLUMNS and "*" in "".join(last)
    if width == word + 1 or ends_with_entities or is_predicate(last):
        for _, columns in rows:
            columns.append("-")


def _speakers(rows: list[Row], word: int) -> list[str]:
    """Returns the speaker of each word. Raises `ConfigurationError` if names seem to have spaces."""
    speaker, width = word + 6, len(rows[0][1])
    if word < 3 or width < speaker + 3:
        return [NO_SPEAKER] * len(rows)
    for line, columns in rows:
        entity = columns[speaker + 1]
        is_entity = "*" in entity or "(" in entity or entity in NO_ANNOTATION or "\t" in line.text
        num_frames = sum(row[word + 4] not in NO_ANNOTATION for _, row in rows)
        if not is_entity and width != speaker + 3 + num_frames:
            raise ConfigurationError(
                f"{line.location}: expected the speaker and the named entity in columns {speaker + 1} and "
                f"{speaker + 2}, got {' '.join(columns[speaker : speaker + 3])!r}; {TAB_HINT}"
            )
    return [columns[speaker] or NO_SPEAKER for _, columns in rows]


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
