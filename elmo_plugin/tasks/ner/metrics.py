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

from elmo_plugin.common.label_names import beside_names
from elmo_plugin.tasks.counting import SpanCounts, SpanF1, ratio
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.ner.dataset_reader import DOCUMENT, split_sentences

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
    Counts gold, predicted and correct chunks, word by word as conlleval.pl does. A predicted chunk
    is correct if a gold chunk starts and ends at the same words, with the same type.
    """

    def __init__(self, counts: Mapping[str, Counter[str]]) -> None:
        self._counts = counts
        # The tags of the word before; O before the first word.
        self._gold_before = _NO_TAG
        self._predicted_before = _NO_TAG
        # Whether the word before is in a gold chunk and in a predicted one that started at the same
        # word, with the same type.
        self._is_in_common_chunk = False

    def read(self, gold: _Tag, predicted: _Tag) -> None:
        """Reads the tags of the next word: counts chunks that end before it, or start at it."""
        self._end_chunks(gold, predicted)
        self._start_chunks(gold, predicted)
        self._gold_before = gold
        self._predicted_before = predicted

    def _end_chunks(self, gold: _Tag, predicted: _Tag) -> None:
        """Counts the common chunk as correct if gold and predicted chunk end before this word."""
        gold_ends = _ends_between(self._gold_before, gold)
        predicted_ends = _ends_between(self._predicted_before, predicted)
        if self._is_in_common_chunk and gold_ends and predicted_ends:
            self._counts["correct"][self._gold_before.kind] += 1
        if gold_ends or predicted_ends:
            self._is_in_common_chunk = False

    def _start_chunks(self, gold: _Tag, predicted: _Tag) -> None:
        """Counts the chunks that start at this word, and notes whether they are common so far."""
        gold_starts = _starts_between(self._gold_before, gold)
        predicted_starts = _starts_between(self._predicted_before, predicted)
        if gold_starts:
            self._counts["gold"][gold.kind] += 1
        if predicted_starts:
            self._counts["predicted"][predicted.kind] += 1
        if gold.kind != predicted.kind:
            # A chunk of one type cannot go on in both. `_end_chunks` has ended it already, unless
            # it is one of the exceptions of `finish`.
            self._is_in_common_chunk = False
        elif gold_starts and predicted_starts:
            self._is_in_common_chunk = True

    def finish(self) -> None:
        """
        Counts the common chunk as correct if it has not ended by now. The O behind the last word
        ends most chunks. But conlleval.pl has exceptions for tags without a type: an "S" does not
        end before O, and no letter ends before ".".
        """
        if self._is_in_common_chunk:
            self._counts["correct"][self._gold_before.kind] += 1


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
            gold_and_predicted = list(zip(gold_tags, tags, strict=True))
            self.add([gold_and_predicted])

    def add(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Adds sentences, each with the gold tag and the predicted tag of its words."""
        # One counter reads all sentences, because conlleval.pl reads a file as one row of words. An
        # O between sentences keeps chunks apart.
        chunks = _ChunkCounter(self.counts)
        for sentence in sentences:
            self._count_words(sentence)
            for gold_tag, predicted_tag in sentence:
                chunks.read(_parse(gold_tag), _parse(predicted_tag))
            chunks.read(_NO_TAG, _NO_TAG)
        chunks.finish()

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
        """
        Returns `accuracy` and, if the tags mark entities, precision, recall and F1 of the entities.
        """
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

    Returns a dictionary with

    - "raw": the lines that conlleval.pl prints;
    - "overall": precision, recall and F1 of all chunks, in percent;
    - the name of each type: the same for its chunks, and "found", the number of predicted ones. A
      type "raw" or "overall" gets `label_` before its name.

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is
    malformed.
    """
    metric = NerF1()
    metric.add(parse_tagged(read_text_lines(path)))
    if not metric.counts["words"]:
        raise ConfigurationError(f"{path}: no words in this file")
    overall = metric.overall_counts().figures(scale=100)
    figures_by_type = {}
    for kind, counts in metric.label_counts().items():
        figures = counts.figures(scale=100)
        figures_by_type[kind] = {**figures.rounded(), "found": counts.predicted}
    scores: dict[str, Any] = {"raw": _table(metric), "overall": overall.rounded()}
    scores.update(beside_names(list(scores), figures_by_type))
    return scores


def parse_tagged(lines: Iterable[Line]) -> Iterator[list[tuple[str, str]]]:
    """
    Yields the gold tag and the predicted tag of each word of each sentence, the last two columns
    of a line. Comments and a header in the first line are left out.

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is
    malformed.
    """
    first_line: Line | None = None
    num_columns = 0  # of the first line, and so of every line
    without_comments = (line for line in lines if not _is_comment(line))
    for lines_of_sentence in split_sentences(without_comments, boundaries=(BOUNDARY, DOCUMENT)):
        sentence = []
        for line in lines_of_sentence:
            columns = line.columns  # conlleval.pl splits a line at tabs and spaces alike
            if first_line is None:
                first_line = line
                num_columns = len(columns)
                if columns[-2:] == _HEADER:
                    continue
            if len(columns) != num_columns:
                raise line.error(
                    f"expected {num_columns} columns (as in {first_line.place}), got {len(columns)}"
                )
            _check_tags(line, columns)
            sentence.append((columns[-2], columns[-1]))
        if sentence:  # otherwise the header was the only row
            yield sentence


def _is_comment(line: Line) -> bool:
    """
    Returns whether a line is a comment. It begins with "#", but so may a line of a word and its
    tags: if it ends in two tags, it is no comment.
    """
    if not line.text.startswith("#"):
        return False
    # The text of a comment in CoNLL-U may end in words that look like tags: "# text = So do I ."
    if _KEY_AND_VALUE.match(line.text):
        return True
    return not all(_parse(tag).prefix in _PREFIXES for tag in line.columns[-2:])


def _check_tags(line: Line, columns: Sequence[str]) -> None:
    """Raises `ConfigurationError` if the last two columns are no tags that conlleval.pl knows."""
    expected = "the gold tag and the predicted tag, which begin with B, I, E, S or O"
    if len(columns) < 2:
        raise line.error(f"expected at the end {expected}, got {len(columns)} columns")
    for text in columns[-2:]:
        if _parse(text).prefix not in _PREFIXES:
            got = repr(text)
            if len(columns) == 2:
                # Two columns can be two tags. As one is not a tag, they seem to be a word and its
                # only tag, so the error is about the missing column.
                got = "2 columns"
            raise line.error(f"expected at the end {expected}, got {got}")


def _table(metric: NerF1) -> list[str]:
    """Returns the lines that conlleval.pl prints."""
    overall = metric.overall_counts()
    lines = [
        f"processed {metric.counts['words']['all']} tokens with {overall.gold} phrases; "
        f"found: {overall.predicted} phrases; correct: {overall.correct}.",
        f"accuracy: {100 * metric.accuracy():6.2f}%; {_in_percent(overall)}",
    ]
    for kind, counts in metric.label_counts().items():
        lines.append(f"{kind:>17}: {_in_percent(counts)}  {counts.predicted}")
    return lines


def _in_percent(counts: SpanCounts) -> str:
    """Returns the figures of counts in percent, as conlleval.pl prints them."""
    figures = counts.figures(scale=100)
    return (
        f"precision: {figures.precision:6.2f}%; recall: {figures.recall:6.2f}%; "
        f"FB1: {figures.f1:6.2f}"
    )
