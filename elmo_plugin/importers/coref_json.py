"""Documents in JSON: e2e-coref's and AllenNLP's, predictions of `elmo predict coref`, PreCo's."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo_plugin.common.errors import BiLmError, as_configuration_error
from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.label_values import is_blank
from elmo_plugin.tasks.coref.documents import (
    CorefDocument,
    check_speakers,
    check_words,
    genre_in,
)
from elmo_plugin.tasks.spans import Span

_ENOUGH_MENTIONS = 10  # among so many mentions of a document, one surely is a single word
_KEY_OF_PRECO = "mention_clusters"
_NAME_KEYS = ("doc_key", "name", "id")
_PART_KEYS = ("line", "part")


def document_in(record: Record) -> CorefDocument:
    """
    Returns the document of a record. It has `sentences`, which are lists of words, and clusters of
    mentions in one of these forms:

    - `clusters` of mentions `[first, last]`, as e2e-coref and AllenNLP have them;
    - `clusters` of mentions with `start_word` and `end_word`, as `elmo_coref` predicts them, or
      `start` and `end`, the end exclusive;
    - `mention_clusters` of mentions `[sentence, start, end]`, as PreCo has them.

    The name of the document is in `doc_key`, `name` or `id`, and the number of its part in `line`,
    as `elmo predict` writes it, or in `part`. These fields are optional, and so is `speakers`.

    Raises `ConfigurationError`, naming file and place, if the record has another shape.
    """
    fields = record.fields
    number = int(record.place.rpartition(" ")[2])  # 7 of "line 7" or "item 7"
    name = _first_value(fields, _NAME_KEYS)
    if name is None:
        name = number
    with as_configuration_error(f"{record.file}, {record.place}"):
        sentences = check_words(fields.get("sentences"))
        _refuse_word_pieces(sentences)
        if _KEY_OF_PRECO in fields:
            clusters = _clusters_of_preco(fields[_KEY_OF_PRECO], sentences)
        else:
            clusters = _clusters(fields.get("clusters"), sentences)
        speakers = check_speakers(fields.get("speakers"), sentences)
    part = _first_value(fields, _PART_KEYS)
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


def _first_value(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Returns the value of the first of these keys that has one, such as 0, or else `None`."""
    for key in keys:
        value = fields.get(key)
        if not is_blank(value):
            return value
    return None


def _refuse_word_pieces(sentences: list[list[str]]) -> None:
    """
    Raises `BiLmError` if words are cut into pieces, as for BERT. "##" begins the second and later
    pieces of a word. A text of "#" alone is no piece.
    """
    for words in sentences:
        for word in words:
            consists_of_marks = word.strip("#") == ""
            is_later_piece = word.startswith("##") and not consists_of_marks
            if word == "[CLS]" or is_later_piece:
                raise BiLmError(f"expected whole words, got a piece for BERT, {word!r}")


def _clusters(clusters: Any, sentences: list[list[str]]) -> list[list[Span]]:
    """
    Returns the clusters of a document. Raises `BiLmError` if mentions are malformed, or if the
    second number of a pair seems to be the word after the mention instead of its last word.
    """
    if not is_list_of(clusters, list):
        raise BiLmError(f'expected "clusters", lists of mentions, got {clusters!r:.100}')
    pairs = [mention for cluster in clusters for mention in cluster if isinstance(mention, list)]
    if _ends_seem_exclusive(pairs, sentences):
        raise BiLmError(
            f"expected the first and the last word of each mention, got {len(pairs)} mentions: "
            "none is one word, and there are many, or some begin in one sentence and end in the "
            'next; mentions such as {"start_word": 0, "end_word": 1} end before a word'
        )
    length = sum(len(words) for words in sentences)
    return [[_mention(mention, length) for mention in cluster] for cluster in clusters]


def _ends_seem_exclusive(pairs: list[list[Any]], sentences: list[list[str]]) -> bool:
    """
    Returns whether the second number of each pair seems to be the word after the mention. If it is
    the last word, a mention of one word has two equal numbers, and a mention hardly ever crosses
    the end of a sentence.
    """
    for pair in pairs:
        is_single_word = len(pair) == 2 and pair[0] == pair[1]
        if is_single_word:
            return False
    return len(pairs) >= _ENOUGH_MENTIONS or _any_crosses_sentences(pairs, sentences)


def _any_crosses_sentences(pairs: list[list[Any]], sentences: list[list[str]]) -> bool:
    """Returns whether the first and the last word of any pair are in different sentences."""
    sentence_ends = set()  # the first word behind each sentence
    length = 0
    for words in sentences:
        length += len(words)
        sentence_ends.add(length)
    for pair in pairs:
        if is_list_of(pair, int) and len(pair) == 2:
            first, last = pair
            # A pair that reaches beyond the document is malformed, and `_mention` refuses it.
            if last < length and any(first < end <= last for end in sentence_ends):
                return True
    return False


def _mention(mention: Any, length: int) -> Span:
    """
    Returns a mention from an object or a pair of numbers. Raises `BiLmError` if it is neither, or
    if it is not inside of the document, which has `length` words.
    """
    start = None
    end = None
    if isinstance(mention, dict):
        start = mention.get("start_word", mention.get("start"))
        end = mention.get("end_word", mention.get("end"))
    elif isinstance(mention, list) and len(mention) == 2 and is_list_of(mention, int):
        start = mention[0]
        end = mention[1] + 1
    if type(start) is not int or type(end) is not int:  # truth values are no integers here
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
    Returns a mention counted in the document, from the number of its sentence and its start and end
    in this sentence. Raises `BiLmError` if it is not inside of the sentence.
    """
    if not is_list_of(mention, int) or len(mention) != 3:
        raise BiLmError(f"expected a mention as [sentence, first, end], got {mention!r:.100}")
    number, start, end = mention
    if not 0 <= number < len(sentences) or not 0 <= start < end <= len(sentences[number]):
        raise BiLmError(f"the mention {mention!r:.100} is not in the sentences of the document")
    words_before = sum(len(words) for words in sentences[:number])
    return Span(words_before + start, words_before + end)
