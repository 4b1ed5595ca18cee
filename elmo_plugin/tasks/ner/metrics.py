"""Tags and whole entities, counted as conlleval.pl counts them, the scorer of CoNLL-2000 and CoNLL-2003."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import Figures, ScoreMetric, Scores, figures_by_group, precision_recall_f1
from elmo_plugin.tasks.dataset_reader import Line, read_text_lines
from elmo_plugin.tasks.ner.columns import read_table

BOUNDARY = "-X-"  # a line that begins with this word ends a sentence
# The prefixes of a word and the next one between which a chunk of one type ends, and between which one
# starts. conlleval.pl knows no others: in BIOES, "S-X S-X" and "E-X B-X" are one chunk.
_ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
_STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
_SINGLES = {"[", "]"}
_OUTSIDE = {"O", "."}
_PREFIXES = {"B", "I", "E", "S"} | _SINGLES | _OUTSIDE
_BIO_PREFIXES = {"U": "B", "L": "I"}  # of BIOUL, unknown to conlleval.pl


def _split(tag: str) -> tuple[str, str]:
    """Splits a tag at its first `-`: its prefix, in BIO for BIOUL, and the type of its chunk."""
    prefix, _, kind = tag.partition("-")
    return _BIO_PREFIXES.get(prefix, prefix), kind


class NerScores(Scores):
    """Counts entities by type. An entity is correct if its first word, its last word and its type are."""

    def __init__(self) -> None:
        self.words = self.correct_tags = 0
        self.gold: Counter[str] = Counter()
        self.predicted: Counter[str] = Counter()
        self.correct: Counter[str] = Counter()

    def add(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Counts the chunks of sentences whose words have a gold tag and a predicted tag."""
        is_common = False  # in both, a chunk began at the same word, with the same type, and goes on
        last = (("O", ""), ("O", ""))
        for sentence in sentences:
            self.words += len(sentence)
            self.correct_tags += sum(gold == predicted for gold, predicted in sentence)
            for pair in [*sentence, ("O", "O")]:
                gold, predicted = map(_split, pair)
                ends = [_ends(last[0], gold), _ends(last[1], predicted)]
                starts = [_starts(last[0], gold), _starts(last[1], predicted)]
                if is_common and all(ends):
                    self.correct[last[0][1]] += 1
                is_common = (is_common and not any(ends)) or all(starts)
                is_common = is_common and gold[1] == predicted[1]
                self.gold.update([gold[1]] * starts[0])
                self.predicted.update([predicted[1]] * starts[1])
                last = gold, predicted
        if is_common:  # without types, a chunk may continue to the end
            self.correct[last[0][1]] += 1

    def figures(self, whole: float = 1.0) -> dict[str, Figures]:
        """Returns the figures as parts of `whole`: "overall", and of each type by its name."""
        correct, predicted, gold = self.correct, self.predicted, self.gold
        overall = precision_recall_f1(correct.total(), predicted.total(), gold.total(), whole)
        return {"overall": overall} | {
            kind: precision_recall_f1(correct[kind], predicted[kind], gold[kind], whole)
            for kind in sorted(gold.keys() | predicted.keys())
        }


def _ends(last: tuple[str, str], tag: tuple[str, str]) -> bool:
    """Returns whether a chunk ends between two words."""
    changes = last[0] not in _OUTSIDE and last[1] != tag[1]
    return changes or last[0] in _SINGLES or last[0] + tag[0] in _ENDS


def _starts(last: tuple[str, str], tag: tuple[str, str]) -> bool:
    """Returns whether a chunk starts between two words."""
    changes = tag[0] not in _OUTSIDE and last[1] != tag[1]
    return changes or tag[0] in _SINGLES or last[0] + tag[0] in _STARTS


@Metric.register("ner_f1")
class NerF1(ScoreMetric):
    """
    The accuracy over words, and precision, recall and F1 of whole entities, over all processes.

    Registered as a `Metric` with name "ner_f1", for tags in BIO and BIOUL; of plain tags it has the accuracy.
    """

    scores_class = NerScores

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
            self._scores.add([list(zip(gold_tags, tags, strict=True))])

    @overrides(check_signature=False)
    def metrics(self, scores: NerScores) -> dict[str, float]:
        """
        Returns `accuracy`, and `precision`, `recall` and `f1-measure`, from 0 to 1, each followed by
        `-overall` and by the name of each type, as in `f1-measure-PER`.
        """
        accuracy = scores.correct_tags / scores.words if scores.words else 0.0
        entities = figures_by_group(scores.figures()) if self._has_entities else {}
        return {"accuracy": accuracy} | entities

    @overrides(check_signature=False)
    def missing_gold(self, scores: NerScores) -> str:
        return "entities" if self._has_entities and scores.words and not scores.gold else ""


def score_tagged(path: str) -> dict[str, Any]:
    """
    Scores a file with one word per line; its last two columns are the gold tag and the predicted tag. Blank
    lines separate sentences. Returns the lines that conlleval.pl prints as "raw"; the
    percentages "overall", and of each type the percentages and the number of predicted chunks, "found".

    Raises `ConfigurationError`, naming file and line, if the number of columns changes or a tag is malformed.
    """
    scores = NerScores()
    scores.add(parse_tagged(read_text_lines(path)))
    if not scores.words:
        raise ConfigurationError(f"{path}: no words in this file")
    rows = scores.figures(100)
    table = _table(scores, rows)
    figures = {
        kind: row.rounded() | ({} if kind == "overall" else {"found": scores.predicted[kind]})
        for kind, row in rows.items()
    }
    return {"raw": table, **figures}


def parse_tagged(lines: Iterable[Line]) -> Iterator[list[tuple[str, str]]]:
    """Yields the gold tag and the predicted tag of each word of each sentence, see `score_tagged`."""
    lines = list(lines)
    texts = ["" if line.columns[:1] == [BOUNDARY] else line.text for line in lines]
    table = read_table(lines[0].file if lines else "", texts, chosen=("gold", "predicted"))
    for sentence in table.sentences:
        for number, fields in sentence:
            if len(fields) < 2:
                raise table.error(number, "expected at least 2 columns (gold tag, predicted tag), got 1")
            for text in fields[-2:]:
                if _split(text)[0] not in _PREFIXES:
                    message = f"expected a tag that begins with B, I, E, S or O, got {text!r}"
                    raise table.error(number, message)
        yield [(fields[-2], fields[-1]) for _, fields in sentence]


def _table(scores: NerScores, rows: dict[str, Figures]) -> list[str]:
    columns = {
        kind: f"precision: {row.precision:6.2f}%; recall: {row.recall:6.2f}%; FB1: {row.f1:6.2f}"
        for kind, row in rows.items()
    }
    overall = columns.pop("overall")
    return [
        f"processed {scores.words} tokens with {scores.gold.total()} phrases; "
        f"found: {scores.predicted.total()} phrases; correct: {scores.correct.total()}.",
        f"accuracy: {100 * scores.correct_tags / scores.words:6.2f}%; {overall}",
        *(f"{kind:>17}: {text}  {scores.predicted[kind]}" for kind, text in columns.items()),
    ]
