"""Documents in JSON: e2e-coref's and AllenNLP's, predictions of `elmo predict coref`, PreCo's."""

from typing import Any

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.tasks.coref.documents import (
    CorefDocument,
    check_speakers,
    check_words,
    genre_in,
)
from elmo_plugin.tasks.spans import Span

_ENOUGH_MENTIONS = 10  # of so many mentions of a document, one is surely of a single word
_KEY_OF_PRECO = "mention_clusters"


def document_in(record: Record) -> CorefDocument:
    """
    Returns the document of a record, from its `sentences`, lists of words, and one of these:

    - `clusters` of mentions `[first, last]`, as e2e-coref and AllenNLP have them;
    - `clusters` of mentions with `start_word` and `end_word`, as `elmo_coref` predicts them, or
      `start` and `end`, the end exclusive;
    - `mention_clusters` of mentions `[sentence, start, end]`, as PreCo has them.

    A document may have a name, `doc_key`, `name` or `id`, a `part`, or its `line` as `elmo predict`
    writes it, and `speakers`.

    Raises `ConfigurationError`, naming file and place, if the record has another shape.
    """
    fields = record.fields
    number = int(record.place.rpartition(" ")[2])  # 7 of "line 7" or "item 7"
    name = fields.get("doc_key") or fields.get("name") or fields.get("id") or number
    with as_configuration_error(f"{record.file}, {record.place}"):
        sentences = check_words(fields.get("sentences"))
        _refuse_word_pieces(sentences)
        if _KEY_OF_PRECO in fields:
            clusters = _clusters_of_preco(fields[_KEY_OF_PRECO], sentences)
        else:
            clusters = _clusters(fields.get("clusters"), sentences)
        speakers = check_speakers(fields.get("speakers"), sentences)
    part = fields.get("line") or fields.get("part")
    if part is None:
        part = ""
    return CorefDocument(
        name=str(name),
        part=str(part),
        sentences=sentences,
        speakers=speakers,
        genre=genre_in(str(name)),
        clusters=clusters,
        file=record.file,
        first_line=number,
    )


def _refuse_word_pieces(sentences: list[list[str]]) -> None:
    """
    Raises `BiLmError` if words are cut into pieces, as for BERT: "##" begins the later pieces of a
    word, unless the word is made of "#" alone.
    """
    for words in sentences:
        for word in words:
            if word == "[CLS]" or (word.startswith("##") and word.strip("#")):
                raise BiLmError(f"expected whole words, got a piece for BERT, {word!r}")


def _clusters(clusters: Any, sentences: list[list[str]]) -> list[list[Span]]:
    """
    Returns the clusters of a document. Raises `BiLmError` if mentions are malformed, or seem to be
    pairs whose second number is the word after the mention.
    """
    if not is_list_of(clusters, list):
        raise BiLmError(f'expected "clusters", lists of mentions, got {clusters!r:.100}')
    pairs = [mention for cluster in clusters for mention in cluster if isinstance(mention, list)]
    # In pairs `[first, last]`, a mention of one word has two equal numbers, and nearly no mention
    # goes on in the next sentence.
    has_single_words = any(len(pair) == 2 and pair[0] == pair[1] for pair in pairs)
    are_many = len(pairs) >= _ENOUGH_MENTIONS
    if not has_single_words and (are_many or _cross_sentences(pairs, sentences)):
        raise BiLmError(
            f"expected the first and the last word of each mention, got {len(pairs)} mentions: "
            "none is one word, and there are many, or some begin in one sentence and end in the "
            'next; mentions such as {"start_word": 0, "end_word": 1} end before a word'
        )
    length = sum(len(words) for words in sentences)
    return [[_mention(mention, length) for mention in cluster] for cluster in clusters]


def _cross_sentences(pairs: list[list[Any]], sentences: list[list[str]]) -> bool:
    """Returns whether some pair has its first and its last word in different sentences."""
    ends = set()  # the first word behind each sentence
    length = 0
    for words in sentences:
        length += len(words)
        ends.add(length)
    for pair in pairs:
        if is_list_of(pair, int) and len(pair) == 2:
            first, last = pair
            # A pair that reaches beyond the document is malformed, and refused as such later.
            if last < length and any(first < end <= last for end in ends):
                return True
    return False


def _mention(mention: Any, length: int) -> Span:
    """
    Returns a mention of a document of `length` words, from an object or a pair of numbers. Raises
    `BiLmError` if it is neither, or is not inside of the document.
    """
    start = None
    end = None
    if isinstance(mention, dict):
        start = mention.get("start_word", mention.get("start"))
        end = mention.get("end_word", mention.get("end"))
    elif isinstance(mention, list) and len(mention) == 2 and is_list_of(mention, int):
        start = mention[0]
        end = mention[1] + 1
    if type(start) is not int or type(end) is not int:
        raise BiLmError(f"expected a mention as [first, last], got {mention!r:.100}")
    if not 0 <= start < end <= length:
        raise BiLmError(f"the mention {mention!r:.100} is not in a document of {length} words")
    return Span(start, end)


def _clusters_of_preco(clusters: Any, sentences: list[list[str]]) -> list[list[Span]]:
    """Returns the clusters of a document of PreCo. Raises `BiLmError` if one is malformed."""
    if not is_list_of(clusters, list):
        raise BiLmError(f'expected "{_KEY_OF_PRECO}", lists of mentions, got {clusters!r:.100}')
    return [[_mention_of_preco(mention, sentences) for mention in cluster] for cluster in clusters]


def _mention_of_preco(mention: Any, sentences: list[list[str]]) -> Span:
    """
    Returns a mention of the document, given the number of its sentence and, counted in this
    sentence, its start and end. Raises `BiLmError` if it is not inside of that sentence.
    """
    if not is_list_of(mention, int) or len(mention) != 3:
        raise BiLmError(f"expected a mention as [sentence, first, end], got {mention!r:.100}")
    number, start, end = mention
    if not 0 <= number < len(sentences) or not 0 <= start < end <= len(sentences[number]):
        raise BiLmError(f"the mention {mention!r:.100} is not in the sentences of the document")
    words_before = sum(len(words) for words in sentences[:number])
    return Span(words_before + start, words_before + end)
