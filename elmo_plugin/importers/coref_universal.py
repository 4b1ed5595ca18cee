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
    without a name gets the name of the file.

    Words that are not written, such as dropped pronouns, are left out. So are mentions without any
    written word, and mentions of several parts.

    Raises `ConfigurationError`, naming the file, if the text is not CoNLL-U. If a bracket lacks its
    other half, the message also names the document.
    """
    cluster_field = _index_of_cluster_field(text)
    name_of_file = PurePath(file).name.partition(".")[0]
    for sentences in _sentences_by_document(file, text):
        name = sentences[0].metadata.get("newdoc id") or name_of_file
        document = _Document(file, name, cluster_field, report)
        for sentence in sentences:
            document.add_sentence(sentence)
        yield document.finish()


def _index_of_cluster_field(text: str) -> int:
    """
    Returns the index of the field with the cluster's name in an opening bracket. The text may
    declare the fields in a comment such as `# global.Entity = eid-etype-head-other`. If it does
    not, the name is in the first field.
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
    """Yields the sentences of each document. Raises `ConfigurationError` unless it is CoNLL-U."""
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
    """A document whose sentences are added one after the other."""

    def __init__(self, file: str, name: str, cluster_field: int, report: Report) -> None:
        self._file = file
        self._name = name
        self._cluster_field = cluster_field  # the index of the cluster's name in an opening bracket
        self._report = report
        self._sentences: list[list[str]] = []
        self._speakers: list[list[str]] = []  # of each word of the sentences
        self._length = 0  # the number of words so far
        # The first words of the mentions of each cluster that are not closed yet.
        self._open_starts = defaultdict[str, list[int]](list)
        # The closed mentions of each cluster.
        self._clusters: dict[str, list[Span]] = {}

    def add_sentence(self, sentence: conllu.TokenList) -> None:
        """Adds the words of a sentence, their speaker, and the mentions that begin or end in it."""
        words = []
        for token in sentence:
            if _is_contraction(token):
                continue  # its parts follow
            # The index of this word or, if it is not written, of the next written one.
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
        Adds the brackets of a word. Opening ones begin a mention at the word `start`, and closing
        ones end a mention with the last word so far.
        """
        for match in _BRACKET.finditer(brackets):
            label = match["label"]
            if _PART.search(label):
                self._report.took("mentions of several parts are left out")
                continue
            if match["opens"]:
                cluster = self._cluster_in_opening(label)
                self._open_starts[cluster].append(start)
            else:
                cluster = label  # a bracket that only closes lacks other fields
            if match["closes"]:
                self._close(cluster)

    def _cluster_in_opening(self, label: str) -> str:
        """Returns the name of the cluster in the label of an opening bracket."""
        fields = label.split("-")
        # Some labels lack fields that the file declares. The last one is then the cluster.
        if self._cluster_field >= len(fields):
            return fields[-1]
        return fields[self._cluster_field]

    def _close(self, cluster: str) -> None:
        """
        Closes the mention of a cluster that was opened last. It ends with the last word so far.
        Raises `ConfigurationError` if no mention of the cluster is open.
        """
        if not self._open_starts[cluster]:
            raise ConfigurationError(
                f"{self._file}, document {self._name}, word {self._length}: a mention of "
                f"{cluster!r} ends, but none has begun"
            )
        start = self._open_starts[cluster].pop()
        if start == self._length:
            self._report.took("mentions without a written word are left out")
            return
        self._clusters.setdefault(cluster, []).append(Span(start, self._length))

    def finish(self) -> CorefDocument:
        """
        Returns the document after its last sentence, without sentences that lack a written word.
        Raises `ConfigurationError` if a mention never ends.
        """
        for cluster, starts in self._open_starts.items():
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
