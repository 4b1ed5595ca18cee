"""Tags and whole entities, counted as conlleval.pl counts them, the scorer of CoNLL-2000 and
CoNLL-2003.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import Figures, SpanF1, ratio
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.ner.dataset_reader import DOCUMENT, sentence_rows

BOUNDARY = "-X-"  # a line that begins with this word ends a sentence
# The prefixes of a word and the next one between which a chunk of one type ends, and between which
# one starts. conlleval.pl knows no others: in BIOES, "S-X S-X" and "E-X B-X" are one chunk.
_ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
_STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
_HEADER = ["gold", "predicted"]  # the names of the last two columns
_KEY_AND_VALUE = re.compile(r"# *[a-z_]+(?: id)? = ")  # as "# text = So do I ."
_SINGLES = {"[", "]"}  # a chunk of one word
_OUTSIDE = {"O", "."}  # no chunk
_PREFIXES = {"B", "I", "E", "S"} | _SINGLES | _OUTSIDE
_BIO_PREFIXES = {"U": "B", "L": "I"}  # conlleval.pl does not know the letters of BIOUL


class _Tag(NamedTuple):
    """A tag as conlleval.pl reads it: its prefix and the type of its chunk."""

    prefix: str
    kind: str


_NO_TAG = _Tag("O", "")


def _parse(tag: str) -> _Tag:
    """Parses a tag, split at its first `-`. Prefixes of BIOUL become BIO's prefixes."""
    prefix, _, kind = tag.partition("-")
    return _Tag(_BIO_PREFIXES.get(prefix, prefix), kind)


def _ends_between(before: _Tag, after: _Tag) -> bool:
    """Returns whether a chunk ends between a word and the next one."""
    if before.prefix in _SINGLES or before.prefix + after.prefix in _ENDS:
        return True
    return before.kind != after.kind and before.prefix not in _OUTSIDE


def _starts_between(before: _Tag, after: _Tag) -> bool:
    """Returns whether a chunk starts between a word and the next one."""
    if after.prefix in _SINGLES or before.prefix + after.prefix in _STARTS:
        return True
    return before.kind != after.kind and after.prefix not in _OUTSIDE


class _ChunkCounter:
    """
    Counts gold, predicted and correct chunks, word by word as conlleval.pl does. A chunk is correct
    if it starts and ends at the same words in both, with the same type.
    """

    def __init__(self, counts: Mapping[str, Counter[str]]) -> None:
        self._counts = counts
        # The tags of the word before; O before the first word.
        self._gold = _NO_TAG
        self._predicted = _NO_TAG
        # Whether a chunk of the same type started at the same word in both, and goes on in both.
        self._is_common = False

    def read(self, gold: _Tag, predicted: _Tag) -> None:
        """Reads the tags of the next word: counts chunks that end before it, or start at it."""
        self._end_chunks(gold, predicted)
        self._start_chunks(gold, predicted)
        self._gold = gold
        self._predicted = predicted

    def _end_chunks(self, gold: _Tag, predicted: _Tag) -> None:
        """Counts the common chunk as correct if gold and predicted chunk end before this word."""
        gold_ends = _ends_between(self._gold, gold)
        predicted_ends = _ends_between(self._predicted, predicted)
        if self._is_common and gold_ends and predicted_ends:
            self._counts["correct"][self._gold.kind] += 1
        if gold_ends or predicted_ends:
            self._is_common = False

    def _start_chunks(self, gold: _Tag, predicted: _Tag) -> None:
        """Counts the chunks that start at this word, and notes whether they are common so far."""
        gold_starts = _starts_between(self._gold, gold)
        predicted_starts = _starts_between(self._predicted, predicted)
        if gold_starts:
            self._counts["gold"][gold.kind] += 1
        if predicted_starts:
            self._counts["predicted"][predicted.kind] += 1
        if gold.kind != predicted.kind:
            self._is_common = False
        elif gold_starts and predicted_starts:
            self._is_common = True

    def end(self) -> None:
        """
        Counts a chunk that is still common behind the last word as correct. Only "S" without a type
        goes on there, because conlleval.pl does not end it before O.
        """
        if self._is_common:
            self._counts["correct"][self._gold.kind] += 1


@Metric.register("ner_f1")
class NerF1(SpanF1):
    """
    The accuracy over words, and precision, recall and F1 of whole entities, over all processes. An
    entity is correct if its first word, its last word and its type are.

    Registered as a `Metric` with name "ner_f1", for tags in BIO and BIOUL.

    # Parameters

    has_entities : `bool`, optional (default = `True`)
        Whether the tags mark entities; for other tags, the accuracy is the only figure.
    """

    def __init__(self, has_entities: bool = True) -> None:
        super().__init__()
        self._has_entities = has_entities

    def __call__(  # type: ignore[override]
        self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]
    ) -> None:
        """Adds sentences, each with the predicted and the gold tag of its words."""
        for tags, gold_tags in zip(predicted, gold, strict=True):
            if len(tags) != len(gold_tags):
                raise ValueError(f"ner_f1: expected {len(gold_tags)} tags, got {len(tags)}")
            self.add([list(zip(gold_tags, tags, strict=True))])

    def add(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Adds sentences, each with the gold tag and the predicted tag of its words."""
        chunks = _ChunkCounter(self.counts)  # one for all, as conlleval.pl reads a whole file
        for sentence in sentences:
            self._count_words(sentence)
            for gold_tag, predicted_tag in sentence:
                chunks.read(_parse(gold_tag), _parse(predicted_tag))
            # O after the last word ends the chunks that are open there.
            chunks.read(_NO_TAG, _NO_TAG)
        chunks.end()

    def _count_words(self, sentence: Sequence[tuple[str, str]]) -> None:
        """Counts the words of a sentence, and those whose predicted tag is the gold tag."""
        self.counts["words"]["all"] += len(sentence)
        self.counts["words"]["correct"] += sum(gold == predicted for gold, predicted in sentence)

    def accuracy(self) -> float:
        """Returns the share of words whose predicted tag is the gold tag."""
        words = self.counts["words"]
        return ratio(words["correct"], words["all"])

    @overrides
    def metrics(self) -> dict[str, float]:
        """Returns `accuracy` and, if the tags mark entities, their figures."""
        figures = {"accuracy": self.accuracy()}
        if self._has_entities:
            figures |= super().metrics()
        return figures

    @overrides
    def missing_gold(self) -> str:
        if self._has_entities and self.counts["words"] and not self.counts["gold"]:
            return "entities"
        return ""


def score_tagged(path: str) -> dict[str, Any]:
    """
    Scores a file with one word per line; its last two columns are the gold tag and the predicted
    tag. Blank lines separate sentences.

    Returns a dictionary: "raw" are the lines that conlleval.pl prints, "overall" the percentages of
    all chunks, and under the name of each type are its percentages and "found", the number of
    predicted chunks.

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is
    malformed.
    """
    metric = NerF1()
    metric.add(parse_tagged(read_text_lines(path)))
    if not metric.counts["words"]:
        raise ConfigurationError(f"{path}: no words in this file")
    rows = metric.figures(scale=100)
    figures: dict[str, Any] = {"raw": _table(metric, rows)}
    for kind, row in rows.items():
        figures[kind] = row.rounded()
        if kind != "overall":
            figures[kind]["found"] = metric.counts["predicted"][kind]
    return figures


def parse_tagged(lines: Iterable[Line]) -> Iterator[list[tuple[str, str]]]:
    """
    Yields the gold tag and the predicted tag of each word of each sentence, the last two columns
    of a line. Lines with comments and a header are left out.

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is
    malformed.
    """
    first: Line | None = None
    width = 0  # the number of columns of the first line, and so of all
    without_comments = (line for line in lines if not _is_comment(line))
    for rows in sentence_rows(without_comments, boundaries=(BOUNDARY, DOCUMENT)):
        sentence = []
        for line, _ in rows:
            fields = line.columns  # between tabs and spaces alike, as conlleval.pl splits a line
            if first is None:
                first = line
                width = len(fields)
                if fields[-2:] == _HEADER:
                    continue
            if len(fields) != width:
                raise line.error(
                    f"expected {width} columns (as in {first.place}), got {len(fields)}"
                )
            _check_tags(line, fields)
            sentence.append((fields[-2], fields[-1]))
        if sentence:  # otherwise these rows were a header alone
            yield sentence


def _is_comment(line: Line) -> bool:
    """
    Returns whether a line begins with "#" and does not end in two tags, as a word would, or begins
    with a key and "=", as comments do in CoNLL-U: their texts may end in words such as "I .".
    """
    if not line.text.startswith("#"):
        return False
    if _KEY_AND_VALUE.match(line.text):
        return True
    return not all(_parse(tag).prefix in _PREFIXES for tag in line.columns[-2:])


def _check_tags(line: Line, fields: Sequence[str]) -> None:
    """Raises `ConfigurationError` if the last two columns are no tags that conlleval.pl knows."""
    expected = "the gold tag and the predicted tag, which begin with B, I, E, S or O"
    if len(fields) < 2:
        raise line.error(f"expected at the end {expected}, got {len(fields)} columns")
    for text in fields[-2:]:
        if _parse(text).prefix not in _PREFIXES:
            got = repr(text)
            if len(fields) == 2:  # a word and one tag
                got = "2 columns"
            raise line.error(f"expected at the end {expected}, got {got}")


def _table(metric: NerF1, rows: dict[str, Figures]) -> list[str]:
    """Returns the lines that conlleval.pl prints; `rows` are the figures in per cent."""
    counts = metric.counts
    lines = [
        f"processed {counts['words']['all']} tokens with {counts['gold'].total()} phrases; "
        f"found: {counts['predicted'].total()} phrases; correct: {counts['correct'].total()}."
    ]
    for kind, row in rows.items():
        figures = (
            f"precision: {row.precision:6.2f}%; recall: {row.recall:6.2f}%; FB1: {row.f1:6.2f}"
        )
        if kind == "overall":
            lines.append(f"accuracy: {100 * metric.accuracy():6.2f}%; {figures}")
        else:
            lines.append(f"{kind:>17}: {figures}  {counts['predicted'][kind]}")
    return lines
