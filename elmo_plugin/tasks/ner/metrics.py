"""Right tags and whole entities, counted as the scorer of CoNLL-2003, conlleval.pl, counts them."""

from collections import Counter
from collections.abc import Sequence

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import ScoreMetric, Scores, precision_recall_f1
from elmo_plugin.tasks.ner.tags import tags_to_spans


class NerScores(Scores):
    """
    Counts entities by type. An entity is correct if its first word, its last word and its type are.

    # Attributes

    words, correct_tags : `int`
        The number of words, and of those with the right tag.
    gold, found, correct : `Counter[str]`
        The number of entities of each type that are right, that a system found, and that are both.
    """

    def __init__(self) -> None:
        self.words = self.correct_tags = 0
        self.gold: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.correct: Counter[str] = Counter()

    def add(self, gold: Sequence[str], predicted: Sequence[str], encoding: str) -> None:
        """
        Counts a sentence.

        # Parameters

        gold : `Sequence[str]`
            The right tag of each word.
        predicted : `Sequence[str]`
            The tag that a system gave to each word.
        encoding : `str`
            That of the tags, "BIO" or "BIOUL".
        """
        right, found = (set(tags_to_spans(list(tags), encoding)) for tags in (gold, predicted))
        self.words += len(gold)
        self.correct_tags += sum(one == other for one, other in zip(gold, predicted, strict=True))
        for counter, spans in ((self.gold, right), (self.found, found), (self.correct, right & found)):
            counter.update(kind for kind, _ in spans)

    def figures(self, whole: float = 1.0) -> dict[str, tuple[float, float, float]]:
        """Returns precision, recall and F1 as parts of `whole`: "overall", and of each type by its name."""
        kinds = sorted(self.gold.keys() | self.found.keys())
        correct, found, gold = self.correct, self.found, self.gold
        overall = precision_recall_f1(correct.total(), found.total(), gold.total(), whole)
        return {"overall": overall} | {
            kind: precision_recall_f1(correct[kind], found[kind], gold[kind], whole) for kind in kinds
        }


@Metric.register("ner_f1")
class NerF1(ScoreMetric):
    """
    The accuracy over words, and precision, recall and F1 of whole entities, over all processes.

    Registered as a `Metric` with name "ner_f1".

    # Parameters

    tag_encoding : `str`, optional (default = `"BIOUL"`)
        The encoding of the tags, "BIO" or "BIOUL".
    """

    scores_class = NerScores

    def __init__(self, tag_encoding: str = "BIOUL") -> None:
        super().__init__()
        self._tag_encoding = tag_encoding

    def __call__(  # type: ignore[override]
        self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]
    ) -> None:
        """
        # Parameters

        predicted : `Sequence[Sequence[str]]`
            The tags that a system gave to the words of each sentence.
        gold : `Sequence[Sequence[str]]`
            Those that are right.
        """
        for found, right in zip(predicted, gold, strict=True):
            if len(found) != len(right):
                raise ValueError(f"ner_f1: {len(found)} tags were predicted for {len(right)} words")
            self._scores.add(right, found, self._tag_encoding)

    @overrides(check_signature=False)
    def figures(self, scores: NerScores) -> dict[str, float]:
        """
        Returns `accuracy`, and `precision`, `recall` and `f1-measure`, from 0 to 1, each followed by
        `-overall` and by the name of each type, as in `f1-measure-PER`.
        """
        return {"accuracy": scores.correct_tags / scores.words if scores.words else 0.0} | {
            f"{figure}-{group}": value
            for group, values in scores.figures().items()
            for figure, value in zip(("precision", "recall", "f1-measure"), values, strict=True)
        }
