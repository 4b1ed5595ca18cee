"""
LitBank's annotations: mentions and their clusters in a file `.ann`, beside a file `.txt` with the
words of a sentence in each line.
"""

from collections.abc import Sequence
from pathlib import Path

from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.report import Report
from elmo_plugin.importers.text import read_lines
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.spans import Span

_MENTION = "MENTION"
_COREF = "COREF"
_FIELDS_OF_LINK = 3
_FIELDS_OF_MENTION = 6  # its kind, its name, and the sentences and words of its begin and end


def is_litbank(file: str, text: str) -> bool:
    """Returns whether a file has the annotations of LitBank."""
    return file.endswith(".ann") and text.startswith((_MENTION + "\t", _COREF + "\t"))


def read_litbank(file: str, text: str, options: ImportOptions, report: Report) -> CorefDocument:
    """
    Returns the document of a file. Raises `ConfigurationError`, naming file and line, if the words
    are missing, or a mention is not in them.
    """
    words_file = file.removesuffix(".ann") + ".txt"
    if not Path(words_file).exists():
        raise ConfigurationError(f"{file}: expected the words in {words_file} beside it")
    lines = read_lines(words_file, options, report)
    sentences = [line.split() for line in lines]
    mentions: dict[str, Span] = {}
    clusters: dict[str, list[Span]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split("\t")
        place = f"{file}, line {number}"
        if fields[0] == _MENTION:
            mentions[fields[1]] = _span(fields, sentences, place)
        elif fields[0] == _COREF:
            mention, cluster = _link(fields, place)
            if mention not in mentions:
                raise ConfigurationError(f"{place}: no mention {mention!r} above this line")
            clusters.setdefault(cluster, []).append(mentions[mention])
    name = Path(file).stem
    written = [sentence for sentence in sentences if sentence]
    return CorefDocument(
        name=name,
        part="",
        sentences=written,
        speakers=[[NO_SPEAKER] * len(sentence) for sentence in written],
        genre=genre_in(name),
        clusters=[sorted(cluster) for cluster in clusters.values()],
        file=file,
    )


def _link(fields: Sequence[str], place: str) -> tuple[str, str]:
    """Returns the names of a mention and of its cluster."""
    if len(fields) < _FIELDS_OF_LINK:
        raise ConfigurationError(f"{place}: expected a mention and its cluster")
    return fields[1], fields[2]


def _span(fields: Sequence[str], sentences: Sequence[Sequence[str]], place: str) -> Span:
    """Returns a mention, from the sentence and the word of its first and of its last word."""
    numbers = fields[2:_FIELDS_OF_MENTION]
    if len(fields) < _FIELDS_OF_MENTION or not all(number.isdecimal() for number in numbers):
        raise ConfigurationError(f"{place}: expected the sentences and words of a mention")
    first_sentence, first_word, last_sentence, last_word = map(int, numbers)
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
