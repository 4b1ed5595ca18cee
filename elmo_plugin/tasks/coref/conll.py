"""Documents with their clusters of mentions, from the columns of CoNLL-2012."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from elmo_plugin.common.integers import DIGITS
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
from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

_TITLE = re.compile(
    rf"\s*#\s*begin document\s*(?P<name>\S.*?);?(?:\s*part\s+(?P<part>{DIGITS}))?\s*", re.ASCII
)
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")


def parse_documents(lines: Iterable[Line]) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file in the columns of CoNLL-2012, each between `#begin document
    (NAME); part 000` and `#end document`.

    Raises `ConfigurationError`, naming file and line, if a line has other columns, if a bracket of
    a mention is malformed, never opened or never closed, or if a document is empty or does not end.
    """
    with errors_suggest_import("coref"):
        for document in split_documents(lines):
            if not document.has_end:
                raise missing_end_error(document)
            yield _parse_document(document)


def _parse_document(document: DocumentLines) -> CorefDocument:
    """
    Parses the lines of a document. Raises `ConfigurationError`, naming file and line, if a line is
    malformed, or the document is empty.
    """
    name, part = parse_title(document.begin)
    if not document.sentences:
        raise document.begin.error("the document that begins here is empty")
    sentences = []
    speakers = []
    # The labels of all words of the document, because a mention may end in a later sentence.
    labels = []
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
        clusters=parse_clusters_in_lines(labels, lines),
        file=document.begin.file,
        first_line=document.begin.number,
    )


def parse_title(begin: Line) -> tuple[str, str]:
    """
    Returns the name and the part of a document from its first line. The part is empty if the line
    gives none. Raises `ConfigurationError` if the line contains no name.
    """
    missing_name = begin.error("expected #begin document (NAME); part 000")
    match = _TITLE.fullmatch(begin.text)
    if match is None:
        raise missing_name
    name = match["name"]
    if name.startswith("(") and name.endswith(")"):  # in some files, the name is without brackets
        name = name[1:-1]
    if not name.strip():
        raise missing_name
    part = match["part"] or ""
    return name, part


def parse_clusters_in_lines(labels: Sequence[str], lines: Sequence[Line]) -> list[list[Span]]:
    """
    Parses the column of coreference like `parse_clusters`. Each label comes from the line at the
    same index, so that an error can name this line.
    """
    with locate_label_errors(lines):
        return parse_clusters(labels)


def parse_clusters(labels: Sequence[str]) -> list[list[Span]]:
    """
    Parses the column of coreference, a label for each word. For example, in the labels `(12`, `-`
    and `(3)|12)` of three words, a mention of cluster 12 opens at the first word and closes at the
    last one, and the last word is also a mention of cluster 3. The bar may be missing, as in
    `(3)12)`.

    A closing bracket ends the mention of its cluster that was opened last. As in the reference
    scorer, the brackets that open at a word come before the brackets that close there: `3)|(3` is a
    mention of one word, inside a mention that closes later.

    Returns the clusters in the order in which they begin, and the mentions of each from left to
    right. A mention that is repeated stays repeated.

    Raises `LabelError` if a bracket is malformed, never opened or never closed.
    """
    clusters: dict[str, list[Span]] = {}
    # The first words of the mentions of each cluster that are not closed yet.
    open_starts: dict[str, list[int]] = defaultdict(list)
    for word_index, label in enumerate(labels):
        for bracket in _parse_brackets(word_index, label):
            cluster = bracket.cluster
            # Added when its first mention opens, so that clusters are in the order of their starts.
            mentions = clusters.setdefault(cluster, [])
            if bracket.opens:
                open_starts[cluster].append(word_index)
            if bracket.closes:
                if not open_starts[cluster]:
                    raise LabelError(
                        word_index,
                        f"{label!r} closes a mention of cluster {cluster}, but none is open",
                    )
                start = open_starts[cluster].pop()
                mentions.append(Span(start, word_index + 1))
    _check_all_closed(labels, open_starts)
    return [sorted(mentions) for mentions in clusters.values()]


def _check_all_closed(labels: Sequence[str], open_starts: Mapping[str, Sequence[int]]) -> None:
    """
    Raises `LabelError` if a mention is opened but never closed; if several are, for the first one
    in the document. `open_starts` has the first words of each cluster's open mentions.
    """
    never_closed = []
    for cluster, starts in open_starts.items():
        for start in starts:
            never_closed.append((start, cluster))
    if never_closed:
        first_start, cluster = min(never_closed)
        label = labels[first_start]
        raise LabelError(
            first_start, f"{label!r} opens a mention of cluster {cluster} that is never closed"
        )


class _Bracket(NamedTuple):
    """
    The number of a cluster with a bracket that opens or closes a mention. If there are brackets on
    both sides, the word is a mention.
    """

    cluster: str
    opens: bool
    closes: bool


def _parse_brackets(word_index: int, label: str) -> list[_Bracket]:
    """
    Returns the brackets in the label of a word: first mentions of one word, then opening, then
    closing brackets. This is the order in which `parse_clusters` opens and closes mentions. Raises
    `LabelError` if the label is malformed.
    """
    if label in NO_ANNOTATION:
        return []
    if not _LABEL.fullmatch(label):
        raise LabelError(
            word_index, f"{label!r} is not a coreference label such as (12, 12), (12)|(3 or -"
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
    # The brackets of each word. `opening` also has brackets on both sides, as in `(1)`.
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    for number, mentions in enumerate(clusters):
        for mention in sorted(mentions):
            last_word = mention.end - 1
            if mention.start == last_word:
                opening[mention.start].append(f"({number})")
            else:
                opening[mention.start].append(f"({number}")
                closing[last_word].append(f"{number})")
    labels = []
    for opening_at_word, closing_at_word in zip(opening, closing, strict=True):
        labels.append("|".join(opening_at_word + closing_at_word) or "-")
    return labels


def format_document(document: CorefDocument) -> str:
    """
    Returns the lines of a document in the columns of CoNLL-2012, as `parse_documents` reads them.
    Columns of other tasks, such as the part of speech, are written without annotation.
    """
    # A `ConllWord` has the line that it was parsed from. Here it is empty, and is not written.
    no_line = Line("", document.file, document.first_line)
    # The column has the part without leading zeros: "000" is 0 here. A missing part is 0 as well.
    part_column = str(int(document.part or 0))
    labels = format_clusters(document.clusters, document.length)
    sentences = []
    word_index = 0  # in the document
    for texts, speakers in zip(document.sentences, document.speakers, strict=True):
        words = []
        for number, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
            word = ConllWord(
                line=no_line,
                document=document.name,
                part=part_column,
                number=str(number),
                word=text,
                speaker=speaker,
                mention=labels[word_index],
            )
            words.append(word)
            word_index += 1
        sentences.append(format_sentence(words))
    return format_begin(document.name, document.part) + "".join(sentences) + END
