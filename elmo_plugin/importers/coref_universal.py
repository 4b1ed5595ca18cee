"""CorefUD: documents in CoNLL-U, with brackets of mentions in the last column, `Entity=(e1-…`."""

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import conllu
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.tasks.coref.documents import NO_SPEAKER, CorefDocument, genre_in
from elmo_plugin.tasks.spans import Span

_BRACKET = re.compile(r"(?P<opens>\()?(?P<label>[^()]+)(?P<closes>\))?")
_PART = re.compile(r"\[\d+/\d+\]")  # of a mention of several parts
_FIELDS = re.compile(r"^#\s*global\.Entity\s*=\s*(\S+)", re.MULTILINE)


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
    fields = _FIELDS.search(text)
    names = fields[1].split("-") if fields else ["eid"]
    field = names.index("eid") if "eid" in names else 0
    document: _Document | None = None
    try:
        for sentence in conllu.parse_incr(io.StringIO(text)):
            metadata = sentence.metadata
            begins = "newdoc" in metadata or "newdoc id" in metadata
            if document is not None and begins:
                yield document.finished()
                document = None
            if document is None:
                name = metadata.get("newdoc id") or PurePath(file).name.partition(".")[0]
                document = _Document(file, name, field, report)
            document.add(sentence)
    except conllu.exceptions.ParseException as error:
        raise ConfigurationError(f"{file}: not CoNLL-U ({error})") from None
    if document is not None:
        yield document.finished()


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
        self._opened = defaultdict[str, list[int]](list)
        self._clusters: dict[str, list[Span]] = {}

    def add(self, sentence: Any) -> None:
        """Adds a sentence."""
        words = []
        for token in sentence:
            is_written = isinstance(token["id"], int)
            is_contraction = not is_written and token["id"][1] == "-"
            if is_contraction:
                continue
            start = self._length
            if is_written:
                words.append(token["form"])
                self._length += 1
            self._add_brackets((token["misc"] or {}).get("Entity") or "", start)
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
            if match["opens"]:
                cluster = label.split("-")[min(self._field, label.count("-"))]
                self._opened[cluster].append(start)
            else:
                cluster = label
            if match["closes"]:
                self._close(cluster)

    def _close(self, cluster: str) -> None:
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
        """Returns the whole document."""
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
