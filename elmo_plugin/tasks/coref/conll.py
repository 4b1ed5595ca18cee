"""Documents with their clusters of mentions, from the columns of CoNLL-2012."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import (
    END,
    NO_ANNOTATION,
    ConllWord,
    DocumentLines,
    errors_suggest_import,
    format_begin,
    format_sentence,
    missing_end_error,
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
    with errors_suggest_import("coref"):
        for document in split_documents(lines):
            if not document.has_end:
                raise missing_end_error(document)
            yield _parse_document(document)


def _parse_document(document: DocumentLines) -> CorefDocument:
    """
    Makes a document of its lines. Raises `ConfigurationError`, naming file and line, if they are
    malformed, or the document is empty.
    """
    name, part = parse_title(document.begin)
    if not document.sentences:
        raise document.begin.error("the document that begins here is empty")
    sentences = []
    speakers = []
    labels = []  # of all words of the document, as a mention may end in a later sentence
    lines = []
    for lines_of_sentence in document.sentences:
        words = parse_sentence(lines_of_sentence)
        sentences.append([word.plain for word in words])
        speakers.append([word.speaker or NO_SPEAKER for word in words])
        labels += [word.mention for word in words]
        lines += lines_of_sentence
    return CorefDocument(
        name,
        part,
        sentences=sentences,
        speakers=speakers,
        genre=genre_in(name),
        clusters=located_clusters(labels, lines),
        file=document.begin.file,
        first_line=document.begin.number,
    )


def parse_title(begin: Line) -> tuple[str, str]:
    """
    Returns the name and the part of a document from its first line; an empty part if none is given.
    Raises `ConfigurationError` if the line lacks a name.
    """
    match = _TITLE.fullmatch(begin.text)
    lacks_name = begin.error("expected #begin document (NAME); part 000")
    if match is None:
        raise lacks_name
    name = match["name"]
    if name.startswith("(") and name.endswith(")"):  # some files lack the brackets
        name = name[1:-1]
    if not name.strip():
        raise lacks_name
    return name, match["part"] or ""


def located_clusters(labels: Sequence[str], lines: Sequence[Line]) -> list[list[Span]]:
    """
    Parses the column of coreference like `parse_clusters`. The label at an index is in the line at
    this index, and an error names this line.
    """
    with locate_label_errors(lines):
        return parse_clusters(labels)


def parse_clusters(labels: Sequence[str]) -> list[list[Span]]:
    """
    Parses the column of coreference, a label for each word. In `(12`, `-`, `(3)|12)`, the first
    label opens a mention of cluster 12, and the last one is a mention of cluster 3 and closes the
    first. The bar may be missing, as in `(3)12)`. A closing bracket ends the mention of its
    cluster that was opened last. As in the reference scorer, all brackets that open at a word come
    before those that close there: `3)|(3` is a mention of one word inside another.

    Returns the clusters in the order in which they begin, each from left to right. A mention that
    is repeated stays repeated.

    Raises `LabelError` if brackets are malformed or without their other half.
    """
    clusters: dict[str, list[Span]] = {}
    opened: dict[str, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        for bracket in _brackets(row, label):
            cluster = bracket.cluster
            mentions = clusters.setdefault(cluster, [])
            if bracket.opens:
                opened[cluster].append(row)
            if bracket.closes:
                if not opened[cluster]:
                    raise LabelError(
                        row, f"{label!r} closes a mention of cluster {cluster}, but none is open"
                    )
                start = opened[cluster].pop()
                mentions.append(Span(start, row + 1))
    _check_all_closed(labels, opened)
    return [sorted(mentions) for mentions in clusters.values()]


def _check_all_closed(labels: Sequence[str], opened: Mapping[str, Sequence[int]]) -> None:
    """
    Raises `LabelError` for the first mention in the document that is opened but never closed, if
    there is one. `opened` has the first words of each cluster's open mentions.
    """
    never_closed = []
    for cluster, rows in opened.items():
        for row in rows:
            never_closed.append((row, cluster))
    if never_closed:
        row, cluster = min(never_closed)
        raise LabelError(
            row, f"{labels[row]!r} opens a mention of cluster {cluster} that is never closed"
        )


class _Bracket(NamedTuple):
    """A bracket with the number of a cluster, or two around it: a mention of one word."""

    cluster: str
    opens: bool
    closes: bool


def _brackets(row: int, label: str) -> list[_Bracket]:
    """
    Returns the brackets in the label of the word `row`: first mentions of one word, then opening,
    then closing brackets, in the order in which `parse_clusters` follows them. Raises `LabelError`
    if the label is malformed.
    """
    if label in NO_ANNOTATION:
        return []
    if not _LABEL.fullmatch(label):
        raise LabelError(
            row, f"{label!r} is not a coreference label such as (12, 12), (12)|(3 or -"
        )
    whole_mentions = []
    opening = []
    closing = []
    for match in _BRACKET.finditer(label):
        bracket = _Bracket(
            match["cluster"],
            opens=match["opens"] is not None,
            closes=match["closes"] is not None,
        )
        if bracket.opens and bracket.closes:
            whole_mentions.append(bracket)
        elif bracket.opens:
            opening.append(bracket)
        else:
            closing.append(bracket)
    return whole_mentions + opening + closing


def format_clusters(clusters: Iterable[Iterable[Span]], length: int) -> list[str]:
    """
    Returns the column of coreference of a document of `length` words, such as `(0`, `-`, `(1)|0)`.
    Clusters are numbered from 0. Inverts `parse_clusters`, except for the order of the clusters.
    """
    # The brackets of each word. `opening` also has those on both sides of one word, as in `(1)`.
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    for number, mentions in enumerate(clusters):
        for start, end, _ in sorted(mentions):
            if end == start + 1:
                opening[start].append(f"({number})")
            else:
                opening[start].append(f"({number}")
                closing[end - 1].append(f"{number})")
    labels = []
    for opening_at_word, closing_at_word in zip(opening, closing, strict=True):
        labels.append("|".join(opening_at_word + closing_at_word) or "-")
    return labels


def format_document(document: CorefDocument) -> str:
    """
    Returns the lines of a document in the columns of CoNLL-2012, as `parse_documents` reads them.
    Other columns, such as the part of speech, have no annotation.
    """
    line = Line("", document.file, document.first_line)  # each word needs one; it is not written
    part = str(int(document.part or 0))  # without leading zeros in the columns
    labels = format_clusters(document.clusters, document.length)
    sentences = []
    start = 0  # the first word of the sentence
    for texts, speakers in zip(document.sentences, document.speakers, strict=True):
        end = start + len(texts)
        rows = zip(texts, speakers, labels[start:end], strict=True)
        words = []
        for number, (text, speaker, label) in enumerate(rows):
            word = ConllWord(
                line=line,
                document=document.name,
                part=part,
                number=str(number),
                word=text,
                speaker=speaker,
                mention=label,
            )
            words.append(word)
        sentences.append(format_sentence(words))
        start = end
    return format_begin(document.name, document.part) + "".join(sentences) + END
