"""Documents with their clusters of mentions, and documents from JSON lines."""

from typing import Any, NamedTuple, cast

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.typography import BYTE_ORDER_MARK
from elmo_plugin.tasks.records import Record
from elmo_plugin.tasks.spans import Span

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
    Returns the document of a record: `sentences`, lists of words, and `clusters` of mentions, as e2e-coref
    and AllenNLP have them, `[first, last]`, or as `elmo_coref` predicts them, `{"start": …, "end": …}`, the
    end exclusive. It may have a name, `doc_key` or `name`, a `part`, or its `line` as `elmo predict`
    writes it, and `speakers`.

    Raises `ConfigurationError`, naming file and line, if the record has another shape.
    """
    line, fields = record
    if not needs_clusters:
        fields = {"clusters": [], **fields}
    name = str(fields.get("doc_key") or fields.get("name") or line.number)
    try:
        sentences = check_words(fields.get("sentences"))
        length = sum(map(len, sentences))
        clusters = [[_mention(mention, length) for mention in cluster] for cluster in _clusters(fields)]
        speakers = check_speakers(fields.get("speakers"), sentences)
    except ValueError as error:
        raise ConfigurationError(f"{line.location}: {error}") from None
    part = str(fields.get("line") or fields.get("part", ""))
    return CorefDocument(name, part, sentences, speakers, genre_in(name), clusters, line.file, line.number)


def check_words(sentences: Any) -> list[list[str]]:
    """Returns sentences of words. Raises `ValueError` if they are no lists of texts, none of them empty."""
    if not sentences or not _are_texts(sentences) or not all(sentences):
        raise ValueError(
            '"sentences" must be a list of lists of words, none of them empty, not ' + str(sentences)[:200]
        )
    return [[word.replace(BYTE_ORDER_MARK, "") for word in words] for words in sentences]


def check_speakers(speakers: Any, sentences: list[list[str]]) -> list[list[str]]:
    """Returns the speakers of the words, or "-". Raises `ValueError` otherwise."""
    if speakers is None:
        return [[NO_SPEAKER] * len(words) for words in sentences]
    if isinstance(speakers, list) and all(isinstance(names, list) for names in speakers):
        speakers = [[name or NO_SPEAKER for name in names] for names in speakers]
    if not _are_texts(speakers) or list(map(len, speakers)) != list(map(len, sentences)):
        raise ValueError('"speakers" must have one name for each word of each of the "sentences"')
    return cast(list[list[str]], speakers)


def _are_texts(lists: Any) -> bool:
    """Returns whether it is a list of lists of texts that are not empty."""
    return isinstance(lists, list) and all(
        isinstance(texts, list)
        and all(isinstance(text, str) and text.strip(BYTE_ORDER_MARK) for text in texts)
        for texts in lists
    )


def _clusters(fields: dict[str, Any]) -> list[list[Any]]:
    clusters = fields.get("clusters")
    if not isinstance(clusters, list) or not all(isinstance(cluster, list) for cluster in clusters):
        raise ValueError(f'expected "clusters", lists of mentions, got {clusters!r:.100}')
    pairs = [mention for cluster in clusters for mention in cluster if isinstance(mention, list)]
    if len(pairs) >= _ENOUGH and not any(len(pair) == 2 and pair[0] == pair[1] for pair in pairs):
        raise ValueError(
            f"expected the first and the last word of each mention, got {len(pairs)} mentions, none of one "
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
        raise ValueError(f"expected a mention as [first, last], got {mention!r:.100}")
    end += is_pair
    if not 0 <= start < end <= length:
        raise ValueError(f"the mention {mention!r:.100} is not in a document of {length} words")
    return Span(start, end)
