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
    line_kind,
    parse_sentence,
    split_sentence,
)
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, document_in, genre_in
from elmo_plugin.tasks.dataset_reader import Line, Row, read_text_lines
from elmo_plugin.tasks.records import is_json, parse_records
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

_TITLE = re.compile(r"(?P<name>.+?);?(?:\s*part\s+(?P<part>\d+))?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")  # 8-9 and 8.1: as in CoNLL-U
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")


def read_documents(path: str | os.PathLike[str], *, only_clusters: bool = False) -> Iterator[CorefDocument]:
    """
    Reads documents, one word per line, between `#begin document (NAME); part 000` and `#end document`. The
    columns are document, part, word number, word, part of speech, parse, lemma and frameset of the predicate,
    sense, speaker, named entity, then any number of others, and coreference; or only some before the word,
    and coreference. Tabs or white space separate columns, blank lines sentences.

    A file that begins with `{` has documents in JSON, see `document_in`.

    `only_clusters` is for files to score, and less strict, as the reference scorer is: lines may differ in
    length, a document may be empty, and the last one of the file may lack its end.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets are
    malformed or without their other half, or a document is empty or does not end.
    """
    return parse_documents(read_text_lines(str(path)), only_clusters=only_clusters)


def parse_documents(
    lines: Iterable[Line], *, only_clusters: bool = False, needs_clusters: bool = True
) -> Iterator[CorefDocument]:
    """Yields the documents of the lines of a file."""
    lines = dropwhile(lambda line: not line.text.strip(), lines)
    for first in lines:
        lines = chain([first], lines)
        if is_json(first):
            for record in parse_records(lines, format="jsonl"):
                yield document_in(record, needs_clusters)
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
