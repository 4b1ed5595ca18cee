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

# A label that opens has several fields, as in `(e1-person-1-`; one that closes only names the
# cluster, as in `e1)`.
_BRACKET = re.compile(r"(?P<opens>\()?(?P<label>[^()]+)(?P<closes>\))?")
_PART = re.compile(r"\[\d+/\d+\]")  # of a mention of several parts
_CLUSTER_FIELDS = ("eid", "GRP")  # the names that the field of the cluster may have
_DECLARED_FIELDS = re.compile(r"^#\s*global\.Entity\s*=\s*(\S+)", re.MULTILINE)


def is_universal(text: str) -> bool:
    """Returns whether any word has the ten columns of CoNLL-U, with entities in the last one."""
    return re.search(r"^\d+\t(?:[^\t\n]*\t){8}[^\t\n]*\bEntity=", text, re.MULTILINE) is not None


def read_coref_universal(file: str, text: str, report: Report) -> Iterator[CorefDocument]:
    """
    Yields the documents of a text, or all of it as one document if it marks none. A document
    without a name gets the name of the file. Words that are not written, such as dropped pronouns,
    are left out, and so are mentions of them alone, and mentions of several parts.

    Raises `ConfigurationError`, naming the file, if the text is not CoNLL-U, and also naming the
    document if brackets lack their other half.
    """
    cluster_field = _index_of_cluster_field(text)
    name_of_file = PurePath(file).name.partition(".")[0]
    for sentences in _sentences_by_document(file, text):
        name = sentences[0].metadata.get("newdoc id") or name_of_file
        document = _Document(file, name, cluster_field, report)
        for sentence in sentences:
            document.add(sentence)
        yield document.finished()


def _index_of_cluster_field(text: str) -> int:
    """
    Returns which of the fields in a bracket that opens names the cluster: as the text declares, in
    a comment such as `# global.Entity = eid-etype-head-other`, or else the first one, 0.
    """
    declared = _DECLARED_FIELDS.search(text)
    if declared is None:
        return 0
    names = declared[1].split("-")
    for name in _CLUSTER_FIELDS:
        if name in names:
            return names.index(name)
    return 0


def _sentences_by_document(file: str, text: str) -> Iterator[list[conllu.TokenList]]:
    """Yields the sentences of each document. Raises `ConfigurationError` if it is not CoNLL-U."""
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

    def __init__(self, file: str, name: str, cluster_field: int, report: Report) -> None:
        self._file = file
        self._name = name
        self._cluster_field = cluster_field  # its index in a bracket that opens
        self._report = report
        self._sentences: list[list[str]] = []
        self._speakers: list[list[str]] = []  # of each word of the sentences
        self._length = 0  # the number of words so far
        # By the names of clusters: the first words of mentions that are open, and whole mentions.
        self._opened = defaultdict[str, list[int]](list)
        self._clusters: dict[str, list[Span]] = {}

    def add(self, sentence: conllu.TokenList) -> None:
        """Adds the words of a sentence, their speaker, and the mentions that begin or end there."""
        words = []
        for token in sentence:
            if _is_contraction(token):
                continue  # its parts follow
            # A mention that begins at a word that is not written begins at the next one.
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
        """
        Adds the brackets of a word: mentions that open there begin at the word `start`, and those
        that close there end with the last word so far.
        """
        for match in _BRACKET.finditer(brackets):
            label = match["label"]
            if _PART.search(label):
                self._report.took("mentions of several parts are left out")
                continue
            if match["opens"]:
                cluster = self._cluster_in(label)
                self._opened[cluster].append(start)
            else:
                cluster = label
            if match["closes"]:
                self._close(cluster)

    def _cluster_in(self, label: str) -> str:
        """Returns the cluster in a label that opens a mention."""
        fields = label.split("-")
        if self._cluster_field >= len(fields):  # a label with few fields ends with its cluster
            return fields[-1]
        return fields[self._cluster_field]

    def _close(self, cluster: str) -> None:
        """
        Ends the mention of a cluster that began last, with the last word so far. Raises
        `ConfigurationError` if no mention of the cluster is open.
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
        """
        Returns the whole document, without sentences that have no written word. Raises
        `ConfigurationError` if a mention never ends.
        """
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
