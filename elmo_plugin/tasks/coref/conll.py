"""Documents with their clusters of mentions, from the columns of CoNLL-2012 or from JSON lines."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple, cast

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.conll2012 import (
    FIXED_COLUMNS,
    NO_ANNOTATION,
    TAB_HINT,
    ConllSentence,
    line_kind,
    parse_sentence,
    split_sentence,
)
from elmo_plugin.tasks.dataset_reader import Line, Row, read_text_lines
from elmo_plugin.tasks.records import Record, columns_or_json
from elmo_plugin.tasks.spans import LabelError, Span, locate_label_errors

NO_SPEAKER = "-"
_ENOUGH = 10  # mentions of a document, one of them surely of a single word


class CorefDocument(NamedTuple):
    """A document or a part of one, with its clusters of mentions."""

    name: str  # such as "nw/wsj/24/wsj_2401"
    part: str  # its number as in the file, such as "000", or empty
    sentences: list[list[str]]  # with brackets and quotation marks as in plain text
    speakers: list[list[str]]  # of each word, "-" if unknown
    genre: str  # the part of the name before the first "/"
    clusters: list[list[Span]]
    file: str = ""
    first_line: int = 1
    text: str | None = None  # by default the words, joined by spaces
    places: list[tuple[int, int]] | None = None  # start and end of each word in `text`

    @property
    def length(self) -> int:
        """The number of its words."""
        return sum(map(len, self.sentences))

    @property
    def typed_sentences(self) -> list[list[str]]:
        """The words as they stand in `text`."""
        if self.text is None or self.places is None:
            return self.sentences
        places = iter(self.places)
        return [[self.text[slice(*next(places))] for _ in words] for words in self.sentences]

    @property
    def title(self) -> str:
        """Name and part, by which the scorer finds a document."""
        return f"({self.name});" + (f" part {self.part}" if self.part else "")

    @property
    def location(self) -> str:
        """File and line, with which an error message begins."""
        return f"{self.file}, line {self.first_line}"


def genre_in(name: str) -> str:
    """Returns the part of the name of a document before the first "/", or nothing."""
    genre, slash, _ = name.partition("/")
    return genre if slash else ""


def document_in(record: Record, needs_clusters: bool = True) -> CorefDocument:
    """
    Returns the document of a record: `sentences`, lists of words, and `clusters` of mentions, as
    e2e-coref and AllenNLP have them, `[first, last]`, or as `elmo_coref` predicts them, `{"start":
    …, "end": …}`, the end exclusive. It may have a name, `doc_key` or `name`, a `part`, or its
    `line` as `elmo predict` writes it, and `speakers`.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    line, fields = record
    if not needs_clusters:
        fields = {"clusters": [], **fields}
    name = str(fields.get("doc_key") or fields.get("name") or line.number)
    with as_configuration_error(line.location):
        sentences = check_words(fields.get("sentences"))
        length = sum(map(len, sentences))
        clusters = [
            [_mention(mention, length) for mention in cluster] for cluster in _clusters(fields)
        ]
        speakers = check_speakers(fields.get("speakers"), sentences)
    part = str(fields.get("line") or fields.get("part", ""))
    return CorefDocument(
        name, part, sentences, speakers, genre_in(name), clusters, line.file, line.number
    )


def check_words(sentences: Any) -> list[list[str]]:
    """
    Returns sentences of words. Raises `BiLmError` if they are no lists of texts, none of them
    empty.
    """
    if not sentences or not _are_texts(sentences) or not all(sentences):
        raise BiLmError(
            '"sentences": expected a list of lists of words, none of them empty, got '
            f"{sentences!s:.200}"
        )
    return [[word.replace(BYTE_ORDER_MARK, "") for word in words] for words in sentences]


def check_speakers(speakers: Any, sentences: list[list[str]]) -> list[list[str]]:
    """Returns the speakers of the words, or "-". Raises `BiLmError` otherwise."""
    if speakers is None:
        return [[NO_SPEAKER] * len(words) for words in sentences]
    if is_list_of(speakers, list):
        speakers = [[name or NO_SPEAKER for name in names] for names in speakers]
    if not _are_texts(speakers) or list(map(len, speakers)) != list(map(len, sentences)):
        raise BiLmError('"speakers": expected one name for each word of each of the "sentences"')
    return cast(list[list[str]], speakers)


def _are_texts(lists: Any) -> bool:
    """Returns whether it is a list of lists of texts that are not empty."""
    return is_list_of(lists, list) and all(
        is_list_of(texts, str) and all(text.strip(BYTE_ORDER_MARK) for text in texts)
        for texts in lists
    )


def _clusters(fields: dict[str, Any]) -> list[list[Any]]:
    clusters: Any = fields.get("clusters")
    if not is_list_of(clusters, list):
        raise BiLmError(f'expected "clusters", lists of mentions, got {clusters!r:.100}')
    pairs = [mention for cluster in clusters for mention in cluster if isinstance(mention, list)]
    if len(pairs) >= _ENOUGH and not any(len(pair) == 2 and pair[0] == pair[1] for pair in pairs):
        raise BiLmError(
            f"expected the first and the last word of each mention, got {len(pairs)} mentions, "
            "none of one "
            'word; mentions such as {"start": 0, "end": 1} end before a word'
        )
    return clusters


def _mention(mention: Any, length: int) -> Span:
    """Returns a mention of a document of `length` words."""
    is_pair = isinstance(mention, list) and len(mention) == 2
    start, end = mention if is_pair else (None, None)
    if isinstance(mention, dict):
        start, end = mention.get("start"), mention.get("end")
    if type(start) is not int or type(end) is not int:
        raise BiLmError(f"expected a mention as [first, last], got {mention!r:.100}")
    end += is_pair
    if not 0 <= start < end <= length:
        raise BiLmError(f"the mention {mention!r:.100} is not in a document of {length} words")
    return Span(start, end)


_TITLE = re.compile(
    r"\s*#\s*begin document\s*(?P<name>\S.*?);?(?:\s*part\s+(?P<part>\d+))?\s*", re.ASCII
)
_NUMBER = re.compile(r"[0-9]+([-.][0-9]+)?")  # 8-9 and 8.1: as in CoNLL-U
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")


def read_documents(
    path: str | os.PathLike[str], *, only_clusters: bool = False
) -> Iterator[CorefDocument]:
    """
    Reads documents, one word per line, between `#begin document (NAME); part 000` and `#end
    document`. The columns are document, part, word number, word, part of speech, parse, lemma and
    frameset of the predicate, sense, speaker, named entity, then any number of others, and
    coreference; or only some before the word, and coreference. Tabs or white space separate
    columns, blank lines sentences. A file that begins with `{` has documents in JSON, see
    `document_in`.

    `only_clusters` is for files to score, and less strict, as the reference scorer is: lines may
    differ in length, a document may be empty, and the last one of the file may lack its end.

    Raises `ConfigurationError`, naming file and line, if the number of columns is wrong, brackets
    are malformed or without their other half, or a document is empty or does not end.
    """
    return parse_documents(read_text_lines(str(path)), only_clusters=only_clusters)


def parse_documents(
    lines: Iterable[Line], *, only_clusters: bool = False, needs_clusters: bool = True
) -> Iterator[CorefDocument]:
    """Yields the documents of the lines of a file."""
    return columns_or_json(
        lines,
        lambda columns: _parse_columns(columns, only_clusters),
        lambda record: document_in(record, needs_clusters),
    )


def _parse_columns(lines: Iterable[Line], only_clusters: bool) -> Iterator[CorefDocument]:
    begin: Line | None = None
    sentences: list[list[Row]] = []
    for kind, group in groupby(lines, key=line_kind):
        if kind == "word":
            sentences += filter(None, [split_sentence(list(group))])
            if sentences and begin is None:
                line, columns = sentences[0][0]
                raise line.error(f"expected #begin document (NAME); part 000, got {columns[0]!r}")
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
        raise begin.error("the document that begins here lacks #end document")


def _parse_document(begin: Line, sentences: list[list[Row]], only_clusters: bool) -> CorefDocument:
    match = _TITLE.fullmatch(begin.text)
    if match is None:
        raise begin.error("expected #begin document (NAME); part 000")
    name = re.sub(r"^\((.*)\)$", r"\1", match["name"])
    rows = list(chain.from_iterable(sentences))
    if only_clusters:
        parsed = [
            ConllSentence(each, [""] * len(each), [], [row[-1] for _, row in each])
            for each in sentences
        ]
        speakers = [[NO_SPEAKER] * len(each) for each in sentences]
    elif not sentences:
        raise begin.error("the document that begins here is empty")
    else:
        word = _word_column(sentences, name)
        parsed = [parse_sentence(each, word) for each in sentences]
        speakers = [_speakers(each, word) for each in parsed]
    with locate_label_errors(rows):
        clusters = parse_clusters([label for sentence in parsed for label in sentence.mentions])
    part, words = match["part"] or "", [sentence.words for sentence in parsed]
    return CorefDocument(
        name, part, words, speakers, genre_in(name), clusters, begin.file, begin.number
    )


def _word_column(sentences: list[list[Row]], name: str) -> int:
    """
    Returns the usual column of words, or else the first one in which those of a sentence differ.
    """
    width = min(max(len(rows[0][1]) for rows in sentences), FIXED_COLUMNS)
    wide = [
        [row for _, row in rows] for rows in sentences if min(len(row) for _, row in rows) >= width
    ]

    def is_text(column: int) -> bool:
        return not all(
            row[column] == name or _NUMBER.fullmatch(row[column]) for rows in wide for row in rows
        )

    if width == FIXED_COLUMNS and not is_text(1) and not is_text(2):
        return 3
    texts = list(filter(is_text, range(max(width - 1, 1))))
    differ = [
        column for column in texts if any(len({row[column] for row in rows}) > 1 for rows in wide)
    ]
    if not differ and len(texts) != 1:
        line, columns = sentences[0][0]
        raise line.error(
            "expected a word, alone or after document, part or number, then coreference, "
            f"got {' '.join(columns)!r}"
        )
    return (differ or texts)[0]


def _speakers(sentence: ConllSentence, word: int) -> list[str]:
    """
    Returns the speaker of each word. Raises `ConfigurationError` if names seem to have spaces.
    """
    width, speaker = len(sentence.rows[0][1]), word + 6
    if word < 3 or width < speaker + 2:
        return [NO_SPEAKER] * len(sentence.rows)
    for line, columns in sentence.rows:
        is_entity = columns[speaker + 1] in NO_ANNOTATION or not {*"*(\t"}.isdisjoint(
            columns[speaker + 1]
        )
        if not is_entity and "\t" not in line.text:
            raise line.error(
                f"expected the speaker and the named entity in columns {speaker + 1} and "
                f"{speaker + 2}, got {' '.join(columns[speaker : speaker + 3])!r}; {TAB_HINT}"
            )
    return [columns[speaker] or NO_SPEAKER for _, columns in sentence.rows]


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
