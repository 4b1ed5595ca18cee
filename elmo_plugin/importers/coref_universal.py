"""CorefUD: documents in CoNLL-U, with brackets of mentions in the last column, `Entity=(e1-…`."""

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

import conllu
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.spans import Span

_BRACKET = re.compile(r"(?P<opens>\()?(?P<label>[^()]+)(?P<closes>\))?")
_PART = re.compile(r"\[\d+/\d+\]")  # of a mention of several parts
_NAMES_OF_CLUSTERS = ("eid", "GRP")
_DECLARED_FIELDS = re.compile(r"^#\s*global\.Entity\s*=\s*(\S+)", re.MULTILINE)


def is_universal(text: str) -> bool:
    """Returns whether a text has the columns and the entities of CorefUD."""
    return re.search(r"^\d+\t(?:[^\t\n]*\t){8}[^\t\n]*\bEntity=", text, re.MULTILINE) is not None


def read_coref_universal(file: str, text: str, report: Report) -> Iterator[CorefDocument]:
    """
    Yields the documents of a text, or all of it as one document if it names none. Words that are
    not written, such as dropped pronouns, are no words, and mentions of only them are left out, as
    are mentions of several parts.

    Raises `ConfigurationError`, naming file and document, if brackets lack their other half.
    """
    field = _field_of_clusters(text)
    name_of_file = PurePath(file).name.partition(".")[0]
    for sentences in _sentences_by_document(file, text):
        name = sentences[0].metadata.get("newdoc id") or name_of_file
        document = _Document(file, name, field, report)
        for sentence in sentences:
            document.add(sentence)
        yield document.finished()


def _field_of_clusters(text: str) -> int:
    """Returns which of the fields in a bracket, between hyphens, names the cluster."""
    declared = _DECLARED_FIELDS.search(text)
    if declared is None:
        return 0
    names = declared[1].split("-")
    for name in _NAMES_OF_CLUSTERS:
        if name in names:
            return names.index(name)
    return 0


def _sentences_by_document(file: str, text: str) -> Iterator[list[conllu.TokenList]]:
    """Yields the sentences of each document."""
    sentences: list[conllu.TokenList] = []
    try:
        for sentence in conllu.parse_incr(io.StringIO(text)):
            begins = "newdoc" in sentence.metadata or "newdoc id" in sentence.metadata
            if begins and sentences:
                yield sentences
                sentences = []
            sentences.append(sentence)
    except conllu.exceptions.ParseException as error:
        raise ConfigurationError(f"{file}: not CoNLL-U ({error})") from None
    if sentences:
        yield sentences


class _Document:
    """A document as far as it has been read."""

    def __init__(self, file: str, name: str, field: int, report: Report) -> None:
        self._file = file
        self._name = name
        self._field = field  # of the cluster in a bracket that opens
        self._report = report
        self._sentences: list[list[str]] = []
        self._speakers: list[list[str]] = []
        self._length = 0
        self._opened = defaultdict[str, list[int]](list)  # where open mentions of a cluster begin
        self._clusters: dict[str, list[Span]] = {}

    def add(self, sentence: conllu.TokenList) -> None:
        """Adds the words of a sentence, their speaker, and the mentions that begin or end there."""
        words = []
        for token in sentence:
            if _is_contraction(token):
                continue  # its parts follow
            start = self._length
            if _is_written(token):
                words.append(token["form"])
                self._length += 1
            notes = token["misc"] or {}
            self._add_brackets(notes.get("Entity") or "", start)
        self._sentences.append(words)
        speaker = sentence.metadata.get("speaker") or NO_SPEAKER
        self._speakers.append([speaker] * len(words))

    def _add_brackets(self, brackets: str, start: int) -> None:
        """Adds the brackets at a word. The words so far end with it, if it is written."""
        for match in _BRACKET.finditer(brackets):
            label = match["label"]
            if _PART.search(label):
                self._report.took("mentions of several parts are left out")
                continue
            cluster = label
            if match["opens"]:
                cluster = self._cluster_in(label)
                self._opened[cluster].append(start)
            if match["closes"]:
                self._close(cluster)

    def _cluster_in(self, label: str) -> str:
        """Returns the cluster in the label of a bracket that opens."""
        fields = label.split("-")
        if self._field >= len(fields):
            return fields[-1]
        return fields[self._field]

    def _close(self, cluster: str) -> None:
        """
        Ends the mention of a cluster that began last. Raises `ConfigurationError` if no mention is
        open.
        """
        if not self._opened[cluster]:
            raise ConfigurationError(
                f"{self._file}, document {self._name}, word {self._length}: a mention of "
                f"{cluster!r} ends, but none has begun"
            )
        start = self._opened[cluster].pop()
        if start == self._length:
            self._report.took("mentions without a written word are left out")
            return
        self._clusters.setdefault(cluster, []).append(Span(start, self._length))

    def finished(self) -> CorefDocument:
        """Returns the whole document. Raises `ConfigurationError` if a mention never ends."""
        for cluster, starts in self._opened.items():
            if starts:
                raise ConfigurationError(
                    f"{self._file}, document {self._name}, word {starts[0] + 1}: a mention of "
                    f"{cluster!r} begins here that never ends"
                )
        written = [index for index, words in enumerate(self._sentences) if words]
        return CorefDocument(
            name=self._name,
            part="",
            sentences=[self._sentences[index] for index in written],
            speakers=[self._speakers[index] for index in written],
            genre=genre_in(self._name),
            clusters=[sorted(mentions) for mentions in self._clusters.values()],
            file=self._file,
        )


def _is_written(token: conllu.Token) -> bool:
    """Returns whether a token has a plain number, as written words do."""
    return isinstance(token["id"], int)


def _is_contraction(token: conllu.Token) -> bool:
    """Returns whether a token, such as 3-4, only repeats words that follow."""
    return not _is_written(token) and "-" in token["id"]
