"""Files of documents: the columns of CoNLL-2012, or JSON lines."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, dropwhile, groupby

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    TAB_HINT,
    ConllSentence,
    document_title,
    escape_word,
    line_kind,
    parse_sentence,
    split_sentence,
)
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, documents_in, genre_in
from elmo_plugin.tasks.dataset_reader import Line, Row, read_text_lines
from elmo_plugin.tasks.records import Record, is_json, parse_records
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

_TITLE = re.compile(r"(?P<name>.+?);?(?:\s*part\s+(?P<part>\d+))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")  # 8-9 and 8.1: as in CoNLL-U
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")
FORMATS = ("auto", "conll2012", "jsonl")


def read_documents(path: str | os.PathLike[str], *, only_clusters: bool = False) -> Iterator[CorefDocument]:
    """
    Reads documents, one word per line, between `#begin document (NAME); part 000` and `#end document`. The
    columns are document, part, word number, word, part of speech, parse, lemma and frameset of the predicate,
    sense, speaker, named entity, then any number of others, and coreference; or only some before the word,
    and coreference. Tabs or white space separate columns, blank lines sentences.

    A file that begins with `{` has documents in JSON, see `documents_in`.

    `only_clusters` is for files to score, and less strict, as the reference scorer is: lines may differ in
    length, a document may be empty, and the last one of the file may lack its end.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    return parse_documents(read_text_lines(str(path)), only_clusters=only_clusters)


def parse_documents(
    lines: Iterable[Line], *, format: str = "auto", only_clusters: bool = False, needs_clusters: bool = True
) -> Iterator[CorefDocument]:
    """Yields the documents of the lines of a file in one of `FORMATS`."""
    lines = dropwhile(lambda line: not line.text.strip(), lines)
    for first in lines:
        lines = chain([first], lines)
        if format == "jsonl" or (format == "auto" and is_json(first)):
            yield from chain.from_iterable(map(documents_in, _records(lines, needs_clusters)))
        else:
            yield from _parse_columns(lines, only_clusters)


def _records(lines: Iterable[Line], needs_clusters: bool) -> Iterator[Record]:
    for line, fields in parse_records(lines, format="jsonl"):
        yield line, fields if needs_clusters or "documents" in fields else {"clusters": [], **fields}


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
    name = re.sub(r"^\((.*)\)$", r"\1", match["name"])
    rows = list(chain.from_iterable(sentences))
    if only_clusters:
        parsed = [
            ConllSentence(each, [""] * len(each), [], [row[-1] for _, row in each]) for each in sentences
        ]
        speakers = [[NO_SPEAKER] * len(each) for each in sentences]
    elif not sentences:
        raise ConfigurationError(f"{begin.location}: the document that begins here is empty")
    else:
        word = _word_column(sentences, name)
        parsed = [parse_sentence(each, word) for each in sentences]
        speakers = [_speakers(each, word) for each in parsed]
    with locate_label_errors(rows):
        clusters = parse_clusters([label for sentence in parsed for label in sentence.mentions])
    return CorefDocument(
        name=name,
        part=match["part"] or "",
        sentences=[sentence.words for sentence in parsed],
        speakers=speakers,
        genre=genre_in(name),
        clusters=clusters,
        file=begin.file,
        first_line=begin.number,
    )


def _word_column(sentences: list[list[Row]], name: str) -> int:
    """Returns the usual column of words, or else the first one in which those of a sentence differ."""
    width = min(max(len(rows[0][1]) for rows in sentences), FIXED_COLUMNS)
    wide = [[row for _, row in rows] for rows in sentences if min(len(row) for _, row in rows) >= width]

    def is_text(column: int) -> bool:
        return not all(row[column] == name or _NUMBER.fullmatch(row[column]) for rows in wide for row in rows)

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


def _speakers(sentence: ConllSentence, word: int) -> list[str]:
    """Returns the speaker of each word. Raises `ConfigurationError` if names seem to have spaces."""
    width, speaker = len(sentence.rows[0][1]), word + 6
    if word < 3 or width < speaker + 2:
        return [NO_SPEAKER] * len(sentence.rows)
    for line, columns in sentence.rows:
        is_entity = columns[speaker + 1] in NO_ANNOTATION or not {*"*(\t"}.isdisjoint(columns[speaker + 1])
        if not is_entity and "\t" not in line.text:
            raise ConfigurationError(
                f"{line.location}: expected the speaker and the named entity in columns {speaker + 1} and "
                f"{speaker + 2}, got {' '.join(columns[speaker : speaker + 3])!r}; {TAB_HINT}"
            )
    return [name or NO_SPEAKER for name in sentence.column(speaker)]


def parse_clusters(labels: Sequence[str]) -> list[list[Span]]:
    """
    Reads the column of coreference, such as `(12`, `-`, `(3)|12)`, or without a bar, `(3)12)`. A closing
    bracket ends the mention of its cluster that was opened last. As in the reference scorer, all brackets
    that open at a word come before those that close there, so `3)|(3` is a mention of one word inside
    another.

    Returns the clusters in the order in which they begin, each from left to right, with any repeated mention.

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
                raise LabelError(row, f"{label!r} closes a mention of cluster {cluster}, but none is open")
            if closes:
                mentions.append(Span(opened[cluster].pop(), row + 1))
    never_closed = [(row, cluster) for cluster, rows in opened.items() for row in rows]
    if never_closed:
        row, cluster = min(never_closed)
        raise LabelError(row, f"{labels[row]!r} opens a mention of cluster {cluster} that is never closed")
    return [sorted(mentions) for mentions in clusters.values()]


def _brackets(row: int, label: str) -> list[tuple[bool, str, bool]]:
    """Returns the brackets at a word: first mentions of one word, then opening, then closing brackets."""
    if label in NO_ANNOTATION:
        return []
    if not _LABEL.fullmatch(label):
        raise LabelError(row, f"{label!r} is not a coreference label such as (12, 12), (12)|(3 or -")
    found = [
        (bool(match["opens"]), match["cluster"], bool(match["closes"])) for match in _BRACKET.finditer(label)
    ]
    return sorted(found, key=lambda bracket: (not (bracket[0] and bracket[2]), bracket[2]))


def format_clusters(clusters: Iterable[Iterable[Span]], length: int) -> list[str]:
    """
    Returns the column of coreference of a document of `length` words, in which the clusters are numbered in
    their order. Inverts `parse_clusters`.

    Raises `LabelError` if a mention leaves the document, or crosses another of its cluster, because brackets
    are ambiguous then.
    """
    numbered = []
    for number, cluster in enumerate(clusters):
        around: list[tuple[int, int]] = []  # mentions that the next one may be inside of
        for start, end in sorted((mention[:2] for mention in cluster), key=lambda each: (each[0], -each[1])):
            if not 0 <= start < end <= length:
                raise LabelError(start, f"a mention is not in a document of {length} words: {start} to {end}")
            around = [other for other in around if other[1] > start]
            if around and around[-1][1] < end:
                crossed = "{} to {}".format(*around[-1])
                raise LabelError(start, f"two mentions of a cluster cross: {crossed} and {start} to {end}")
            around.append((start, end))
            numbered.append((start, end, number))
    labels: list[list[str]] = [[] for _ in range(length)]
    for start, end, number in sorted(numbered, key=lambda each: (each[0], -each[1])):
        labels[start].append(f"({number})" if end == start + 1 else f"({number}")
    for start, end, number in sorted(numbered, key=lambda each: (each[1], -each[0])):
        if end > start + 1:
            labels[end - 1].append(f"{number})")
    return ["|".join(label) or "-" for label in labels]


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
