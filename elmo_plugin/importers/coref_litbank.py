"""
LitBank's annotations: mentions and their clusters in a file `.ann`, beside a file `.txt` with the
words of a sentence in each line.
"""

from collections.abc import Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.integers import is_whole_number
from elmo_plugin.importers.lines import numbered_lines
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.spans import Span

_MENTION = "MENTION"
_COREF = "COREF"
_FIELDS_OF_LINK = 3  # COREF, the name of the mention, the name of its cluster
# MENTION, its name, the sentence of its first word, the word in this sentence, and the same two
# numbers of its last word. More fields may follow.
_FIELDS_OF_MENTION = 6


def is_litbank(file: str, text: str) -> bool:
    """Returns whether a file has the annotations of LitBank."""
    return file.endswith(".ann") and text.startswith((_MENTION + "\t", _COREF + "\t"))


def read_litbank(file: str, text: str, options: ImportOptions, report: Report) -> CorefDocument:
    """
    Returns the document of a file `.ann` with this text. Raises `ConfigurationError`, naming file
    and line, if the file with the words is missing, a line is malformed, or a mention is not in the
    words.
    """
    words_file = file.removesuffix(".ann") + ".txt"
    if not Path(words_file).exists():
        raise ConfigurationError(f"{file}: expected the words in {words_file} beside it")
    # Mentions are counted by all lines, including blank ones, and no-break spaces belong to words.
    sentences = [line.columns for line in numbered_lines(words_file, options, report)]
    clusters = _clusters_in(file, text, sentences)
    name = Path(file).stem
    sentences_with_words = [words for words in sentences if words]
    return CorefDocument(
        name=name,
        part="",
        sentences=sentences_with_words,
        speakers=[[NO_SPEAKER] * len(words) for words in sentences_with_words],
        genre=genre_in(name),
        clusters=clusters,
        file=file,
    )


def _clusters_in(
    file: str, annotations: str, sentences: Sequence[Sequence[str]]
) -> list[list[Span]]:
    """
    Returns the clusters in the annotations of a document. Raises `ConfigurationError`, naming file
    and line, if a line is malformed, or a mention is not in the words.
    """
    spans: dict[str, Span] = {}  # by the names of the mentions
    clusters: dict[str, list[Span]] = {}  # by the names of the clusters
    for number, line in enumerate(annotations.split("\n"), start=1):
        fields = line.split("\t")
        place = f"{file}, line {number}"
        if fields[0] == _MENTION:
            span = _span_of_mention(fields, sentences, place)
            spans[fields[1]] = span
        elif fields[0] == _COREF:
            mention, cluster = _mention_and_cluster(fields, place)
            if mention not in spans:
                raise ConfigurationError(f"{place}: no mention {mention!r} above this line")
            clusters.setdefault(cluster, []).append(spans[mention])
        # Lines of other kinds, such as appositions, tell nothing about clusters.
    return [sorted(cluster) for cluster in clusters.values()]


def _mention_and_cluster(fields: Sequence[str], place: str) -> tuple[str, str]:
    """
    Returns the names of a mention and of its cluster. Raises `ConfigurationError` if one is
    missing.
    """
    if len(fields) < _FIELDS_OF_LINK:
        raise ConfigurationError(f"{place}: expected a mention and its cluster")
    return fields[1], fields[2]


def _span_of_mention(fields: Sequence[str], sentences: Sequence[Sequence[str]], place: str) -> Span:
    """
    Returns the words of a mention, counted in the document. The fields count its first and its last
    word in their sentences. Raises `ConfigurationError`, beginning with the place, if the mention
    is not in the text.
    """
    numbers = fields[2:_FIELDS_OF_MENTION]
    if len(fields) < _FIELDS_OF_MENTION or not all(is_whole_number(number) for number in numbers):
        raise ConfigurationError(f"{place}: expected the sentences and words of a mention")
    first_sentence, first_word, last_sentence, last_word = (int(number) for number in numbers)
    for sentence, word in ((first_sentence, first_word), (last_sentence, last_word)):
        if sentence >= len(sentences) or word >= len(sentences[sentence]):
            raise ConfigurationError(f"{place}: the mention is not in the words of the text")
    words_before_first = sum(len(sentence) for sentence in sentences[:first_sentence])
    words_before_last = sum(len(sentence) for sentence in sentences[:last_sentence])
    start = words_before_first + first_word
    end = words_before_last + last_word + 1
    if start >= end:
        raise ConfigurationError(f"{place}: the mention ends before it begins")
    return Span(start, end)
