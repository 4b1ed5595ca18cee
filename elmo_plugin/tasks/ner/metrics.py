"""Tags and whole entities, counted as conlleval.pl counts them, the scorer of CoNLL-2000 and
CoNLL-2003.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import Figures, SpanF1
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.ner.dataset_reader import DOCUMENT, sentence_rows

BOUNDARY = "-X-"  # a line that begins with this word ends a sentence
# The prefixes of a word and the next one between which a chunk of one type ends, and between which
# one starts. conlleval.pl knows no others: in BIOES, "S-X S-X" and "E-X B-X" are one chunk.
_ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
_STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
_HEADER = ["gold", "predicted"]  # the names of the last two columns
_SINGLES = {"[", "]"}
_OUTSIDE = {"O", "."}
_PREFIXES = {"B", "I", "E", "S"} | _SINGLES | _OUTSIDE
_BIO_PREFIXES = {"U": "B", "L": "I"}  # conlleval.pl does not know the letters of BIOUL


def _split(tag: str) -> tuple[str, str]:
    """Splits a tag at its first `-`: its prefix, in BIO for BIOUL, and the type of its chunk."""
    prefix, _, kind = tag.partition("-")
    return _BIO_PREFIXES.get(prefix, prefix), kind


def _edges(last: tuple[str, str], tag: tuple[str, str]) -> tuple[bool, bool]:
    """Returns whether a chunk ends between two words, and whether one starts."""
    changes, prefixes = last[1] != tag[1], last[0] + tag[0]
    ends = (changes and last[0] not in _OUTSIDE) or last[0] in _SINGLES or prefixes in _ENDS
    return ends, (changes and tag[0] not in _OUTSIDE) or tag[0] in _SINGLES or prefixes in _STARTS


@Metric.register("ner_f1")
class NerF1(SpanF1):
    """
    The accuracy over words, and precision, recall and F1 of whole entities, over all processes. An
    entity is correct if its first word, its last word and its type are.

    Registered as a `Metric` with name "ner_f1", for tags in BIO and BIOUL; of plain tags it has the
    accuracy.
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
        """Counts the chunks of sentences whose words have a gold tag and a predicted tag."""
        right = self.counts["correct"]
        is_common = (
            False  # in both, a chunk began at the same word, with the same type, and goes on
        )
        last = (("O", ""), ("O", ""))
        for sentence in sentences:
            self.counts["words"]["all"] += len(sentence)
            self.counts["words"]["correct"] += sum(
                gold == predicted for gold, predicted in sentence
            )
            for pair in [*sentence, ("O", "O")]:
                gold, predicted = map(_split, pair)
                ends, starts = zip(*map(_edges, last, (gold, predicted)), strict=True)
                if is_common and all(ends):
                    right[last[0][1]] += 1
                is_common = (is_common and not any(ends)) or all(starts)
                is_common = is_common and gold[1] == predicted[1]
                self.counts["gold"].update([gold[1]] * starts[0])
                self.counts["predicted"].update([predicted[1]] * starts[1])
                last = gold, predicted
        if is_common:  # without types, a chunk may continue to the end
            right[last[0][1]] += 1

    def accuracy(self) -> float:
        """Returns the part of the words with their gold tag."""
        words = self.counts["words"]
        return words["correct"] / words["all"] if words["all"] else 0.0

    @overrides
    def metrics(self) -> dict[str, float]:
        """Returns `accuracy`, and the figures of entities."""
        return {"accuracy": self.accuracy()} | (super().metrics() if self._has_entities else {})

    @overrides
    def missing_gold(self) -> str:
        return (
            "entities"
            if self._has_entities and self.counts["words"] and not self.counts["gold"]
            else ""
        )


def score_tagged(path: str) -> dict[str, Any]:
    """
    Scores a file with one word per line; its last two columns are the gold tag and the predicted
    tag. Blank lines separate sentences. Returns the lines that conlleval.pl prints as "raw"; the
    percentages "overall", and of each type the percentages and the number of predicted chunks,
    "found".

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is
    malformed.
    """
    metric = NerF1()
    metric.add(parse_tagged(read_text_lines(path)))
    if not metric.counts["words"]:
        raise ConfigurationError(f"{path}: no words in this file")
    rows = metric.figures(100)
    figures = {
        kind: row.rounded()
        | ({} if kind == "overall" else {"found": metric.counts["predicted"][kind]})
        for kind, row in rows.items()
    }
    return {"raw": _table(metric, rows), **figures}


def parse_tagged(lines: Iterable[Line]) -> Iterator[list[tuple[str, str]]]:
    """
    Yields the gold tag and the predicted tag of each word of each sentence, see `score_tagged`.
    """
    first: tuple[Line, int] | None = None
    rows_of_words = (line for line in lines if not _is_comment(line))
    for rows in sentence_rows(rows_of_words, (BOUNDARY, DOCUMENT)):
        sentence = []
        for line, _ in rows:
            fields = line.columns
            if first is None:
                first = line, len(fields)
                if fields[-2:] == _HEADER:
                    continue
            if len(fields) != first[1]:
                raise line.error(
                    f"expected {first[1]} columns (as in {first[0].place}), got {len(fields)}"
                )
            _check_tags(line, fields)
            sentence.append((fields[-2], fields[-1]))
        yield sentence


def _is_comment(line: Line) -> bool:
    """Returns whether a line begins with "#" and does not end in two tags."""
    tags = line.columns[-2:]
    return line.text.startswith("#") and not all(_split(tag)[0] in _PREFIXES for tag in tags)


def _check_tags(line: Line, fields: Sequence[str]) -> None:
    """Raises `ConfigurationError` if the last two columns are no tags that conlleval.pl knows."""
    expected = "the gold tag and the predicted tag, which begin with B, I, E, S or O"
    if len(fields) < 2:
        raise line.error(f"expected at the end {expected}, got {len(fields)} columns")
    for text in fields[-2:]:
        if _split(text)[0] not in _PREFIXES:
            got = repr(text) if len(fields) > 2 else f"{len(fields)} columns"
            raise line.error(f"expected at the end {expected}, got {got}")


def _table(metric: NerF1, rows: dict[str, Figures]) -> list[str]:
    counts = metric.counts
    columns = {
        kind: f"precision: {row.precision:6.2f}%; recall: {row.recall:6.2f}%; FB1: {row.f1:6.2f}"
        for kind, row in rows.items()
    }
    overall = columns.pop("overall")
    return [
        f"processed {counts['words']['all']} tokens with {counts['gold'].total()} phrases; "
        f"found: {counts['predicted'].total()} phrases; correct: {counts['correct'].total()}.",
        f"accuracy: {100 * metric.accuracy():6.2f}%; {overall}",
        *(f"{kind:>17}: {text}  {counts['predicted'][kind]}" for kind, text in columns.items()),
    ]
