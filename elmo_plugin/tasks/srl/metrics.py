"""Correct, excess and missed arguments, counted as the scorer of CoNLL-2005, srl-eval.pl, counts them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import ScoreMetric, Scores, precision_recall_f1
from elmo_plugin.tasks.srl.spans import Argument, tags_to_arguments

VERB = "V"  # the predicate itself; it is not an argument, so it is left out of the overall figures
Pieces = tuple[tuple[int, int], ...]  # start and end of each part of an argument


class SrlCounts(NamedTuple):
    """
    correct: arguments that were predicted and are right
    excess: arguments that were predicted and are wrong
    missed: arguments that are right and were not predicted
    """

    correct: int
    excess: int
    missed: int

    def figures(self, whole: float = 1.0) -> tuple[float, float, float]:
        """Returns precision, recall and F1 as parts of `whole`, 100 for percent; 0 where there is nothing."""
        correct, excess, missed = self
        return precision_recall_f1(correct, correct + excess, correct + missed, whole=whole)


class SrlScores(Scores):
    """
    Counts arguments by role and by kind of predicate. An argument is correct if its role and all of its
    pieces are. `V` is counted as a role, but neither overall nor in kinds.

    # Attributes

    propositions : `int`
        The number of propositions.
    perfect : `int`
        The number of propositions whose predicted arguments are exactly the right ones.
    """

    def __init__(self) -> None:
        self.propositions = 0
        self.perfect = 0
        # By kind, role and field of `SrlCounts`.
        self._counts: Counter[tuple[str | None, str, str]] = Counter()

    def add(self, gold: Iterable[Argument], predicted: Iterable[Argument], kind: str | None = None) -> None:
        """
        Counts the arguments of one predicate.

        # Parameters

        gold : `Iterable[Argument]`
            Those that are right.
        predicted : `Iterable[Argument]`
            Those that a system found.
        kind : `str | None`, optional (default = `None`)
            Any name, such as "verb" or a lemma, by which to count.
        """
        right, found = set(join_continuations(gold)), set(join_continuations(predicted))
        outcomes = {"correct": right & found, "excess": found - right, "missed": right - found}
        for outcome, arguments in outcomes.items():
            self._counts.update((kind, role, outcome) for role, _ in arguments)
        self.propositions += 1
        self.perfect += all(role == VERB for role, _ in right ^ found)

    def overall(self) -> SrlCounts:
        """Returns the counts of all arguments."""
        groups = self._sums(lambda kind, role: None if role == VERB else "overall")
        return groups.get("overall", SrlCounts(0, 0, 0))

    def of_roles(self) -> dict[str, SrlCounts]:
        """Returns the counts of each role, in order of the names, and of `V` as the last."""
        roles = self._sums(lambda kind, role: role)
        return dict(sorted(roles.items(), key=lambda item: item[0] == VERB))

    def of_kinds(self) -> dict[str, SrlCounts]:
        """Returns the counts of all arguments of each kind of predicate, in order of the names."""
        return self._sums(lambda kind, role: None if role == VERB else kind)

    def _sums(self, group: Callable[[str | None, str], str | None]) -> dict[str, SrlCounts]:
        """Returns the counts of each group, which is that of a kind and a role, in order of the names."""
        sums: dict[str, Counter[str]] = defaultdict(Counter)
        for (kind, role, outcome), number in self._counts.items():
            name = group(kind, role)
            if name is not None:
                sums[name][outcome] += number
        fields = SrlCounts._fields
        return {name: SrlCounts(*(of[field] for field in fields)) for name, of in sorted(sums.items())}


def join_continuations(arguments: Iterable[Argument]) -> list[tuple[str, Pieces]]:
    """
    Joins each `C-ARG0` to the last `ARG0` before it. A `C-ARG0` without one is an `ARG0`.

    # Parameters

    arguments : `Iterable[Argument]`
        Of one predicate; they do not overlap.

    # Returns

    `list[tuple[str, tuple[tuple[int, int], ...]]]`
        The role of each argument, and start and end of its pieces.
    """
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}  # the pieces of the last argument of each role
    for role, start, end in sorted(arguments, key=lambda argument: argument.start):
        whole = role.removeprefix("C-")
        if whole == role or whole not in latest:
            latest[whole] = []
            joined.append((whole, latest[whole]))
        latest[whole].append((start, end))
    return [(role, tuple(pieces)) for role, pieces in joined]


@Metric.register("srl_f1")
class SrlF1(ScoreMetric):
    """
    Precision, recall and F1 of whole arguments, as srl-eval.pl counts them, over all processes.

    Registered as a `Metric` with name "srl_f1".
    """

    scores_class = SrlScores

    def __call__(  # type: ignore[override]
        self,
        predicted: Sequence[Sequence[str]],
        gold: Sequence[Sequence[str]],
        kinds: Sequence[str] | None = None,
    ) -> None:
        """
        # Parameters

        predicted : `Sequence[Sequence[str]]`
            The BIO tags that a system found for each predicate.
        gold : `Sequence[Sequence[str]]`
            Those that are right.
        kinds : `Sequence[str] | None`, optional (default = `None`)
            The kind of each predicate.
        """
        names = [None] * len(gold) if kinds is None else kinds
        for found, right, kind in zip(predicted, gold, names, strict=True):
            if len(found) != len(right):
                raise ValueError(f"srl_f1: {len(found)} tags were predicted for {len(right)} words")
            self._scores.add(tags_to_arguments(right), tags_to_arguments(found), kind)

    @overrides(check_signature=False)
    def figures(self, scores: SrlScores) -> dict[str, float]:
        """
        Returns `precision`, `recall` and `f1-measure`, from 0 to 1, each followed by `-overall`, by the name
        of each role, as in `f1-measure-ARG0`, and by that of each kind, as in `f1-measure-kind-verb`.
        """
        groups = {"overall": scores.overall(), **scores.of_roles()}
        groups |= {f"kind-{kind}": counts for kind, counts in scores.of_kinds().items()}
        return {
            f"{figure}-{group}": value
            for group, counts in groups.items()
            for figure, value in zip(("precision", "recall", "f1-measure"), counts.figures(), strict=True)
        }
