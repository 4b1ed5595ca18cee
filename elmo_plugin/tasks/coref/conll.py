"""Documents with their clusters of mentions, from the columns of CoNLL-2012."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from elmo_plugin.tasks.conll2012 import (
    END,
    NO_ANNOTATION,
    ConllWord,
    DocumentLines,
    format_begin,
    format_sentence,
    lacks_end,
    names_import,
    parse_sentence,
    split_documents,
)
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

_TITLE = re.compile(
    r"\s*#\s*begin document\s*(?P<name>\S.*?);?(?:\s*part\s+(?P<part>\d+))?\s*", re.ASCII
)
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")


def read_documents(path: str | os.PathLike[str]) -> Iterator[CorefDocument]:
    """Reads the documents of a file, see `parse_documents`."""
    return parse_documents(read_text_lines(str(path)))


def parse_documents(lines: Iterable[Line]) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file in the columns of CoNLL-2012, each between `#begin document
    (NAME); part 000` and `#end document`.

    Raises `ConfigurationError`, naming file and line, if the columns are not those, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    with names_import("coref"):
        for document in split_documents(lines):
            if not document.has_end:
                raise lacks_end(document)
            yield _parse_document(document)


def _parse_document(document: DocumentLines) -> CorefDocument:
    name, part = parse_title(document.begin)
    if not document.sentences:
        raise document.begin.error("the document that begins here is empty")
    sentences = [parse_sentence(lines) for lines in document.sentences]
    words = [word for sentence in sentences for word in sentence]
    return CorefDocument(
        name,
        part,
        sentences=[[word.plain for word in sentence] for sentence in sentences],
        speakers=[[_speaker(word) for word in sentence] for sentence in sentences],
        genre=genre_in(name),
        clusters=located_clusters([word.mention for word in words], [w.line for w in words]),
        file=document.begin.file,
        first_line=document.begin.number,
    )


def _speaker(word: ConllWord) -> str:
    return word.speaker or NO_SPEAKER


def parse_title(begin: Line) -> tuple[str, str]:
    """
    Returns the name and the part of a document, the part empty if there is none. Raises
    `ConfigurationError` if its mark lacks a name.
    """
    match = _TITLE.fullmatch(begin.text)
    if match is None:
        raise begin.error("expected #begin document (NAME); part 000")
    name = re.sub(r"^\((.*)\)$", r"\1", match["name"])
    return name, match["part"] or ""


def located_clusters(labels: Sequence[str], lines: Sequence[Line]) -> list[list[Span]]:
    """Returns `parse_clusters` of the labels at some lines. Errors name the line."""
    with locate_label_errors(lines):
        return parse_clusters(labels)


def parse_clusters(labels: Sequence[str]) -> list[list[Span]]:
    """
    Reads the column of coreference, such as `(12`, `-`, `(3)|12)`, or without a bar, `(3)12)`. A
    closing bracket ends the mention of its cluster that was opened last. As in the reference
    scorer, all brackets that open at a word come before those that close there, so `3)|(3` is a
    mention of one word inside another.

    Returns the clusters in the order in which they begin, each from left to right, with any
    repeated mention.

    Raises `LabelError` if brackets are malformed or without their other half.
    """
    clusters: dict[str, list[Span]] = {}
    opened: dict[str, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        for opens, cluster, closes in _brackets(row, label):
            mentions = clusters.setdefault(cluster, [])
            if opens:
                opened[cluster].append(row)
            if closes and not opened[cluster]:
                raise LabelError(
                    row, f"{label!r} closes a mention of cluster {cluster}, but none is open"
                )
            if closes:
                mentions.append(Span(opened[cluster].pop(), row + 1))
    never_closed = [(row, cluster) for cluster, rows in opened.items() for row in rows]
    if never_closed:
        row, cluster = min(never_closed)
        raise LabelError(
            row, f"{labels[row]!r} opens a mention of cluster {cluster} that is never closed"
        )
    return [sorted(mentions) for mentions in clusters.values()]


def _brackets(row: int, label: str) -> list[tuple[bool, str, bool]]:
    """
    Returns the brackets at a word: first mentions of one word, then opening, then closing brackets.
    """
    if label in NO_ANNOTATION:
        return []
    if not _LABEL.fullmatch(label):
        raise LabelError(
            row, f"{label!r} is not a coreference label such as (12, 12), (12)|(3 or -"
        )
    found = [
        (bool(match["opens"]), match["cluster"], bool(match["closes"]))
        for match in _BRACKET.finditer(label)
    ]
    return sorted(found, key=lambda bracket: (not (bracket[0] and bracket[2]), bracket[2]))


def format_clusters(clusters: Iterable[Iterable[Span]], length: int) -> list[str]:
    """
    Returns the column of coreference of a document. Inverts `parse_clusters`, except for the order
    of the clusters.
    """
    brackets: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    for number, mentions in enumerate(clusters):
        for start, end, _ in sorted(mentions):
            if end == start + 1:
                brackets[start].append(f"({number})")
            else:
                brackets[start].append(f"({number}")
                closing[end - 1].append(f"{number})")
    labels = []
    for at_word, closed in zip(brackets, closing, strict=True):
        labels.append("|".join(at_word + closed) or "-")
    return labels


def format_document(document: CorefDocument) -> str:
    """Returns the lines of a document. Inverts `parse_documents`."""
    line = Line("", document.file, document.first_line)
    labels = iter(format_clusters(document.clusters, document.length))
    sentences = []
    for texts, speakers in zip(document.sentences, document.speakers, strict=True):
        words = []
        for index, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
            word = ConllWord(line, document.name, str(int(document.part or 0)), str(index), text)
            words.append(word._replace(speaker=speaker, mention=next(labels)))
        sentences.append(format_sentence(words))
    return format_begin(document.name, document.part) + "".join(sentences) + END
