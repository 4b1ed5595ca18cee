"""Correct, excess and missed arguments, counted as srl-eval.pl counts them, the scorer of CoNLL-2005."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import Figures, ScoreMetric, Scores, figures_by_group, precision_recall_f1
from elmo_plugin.tasks.srl.dataset_reader import read_sentences
from elmo_plugin.tasks.srl.sentences import SrlSentence
from elmo_plugin.tasks.srl.spans import Argument, tags_to_arguments

logger = logging.getLogger(__name__)

VERB = "V"  # the predicate itself: not an argument, so not part of the overall figures
Pieces = tuple[tuple[int, int], ...]  # start and end of each part of an argument
_RULE = "-" * 60


class SrlCounts(NamedTuple):
    """Numbers of arguments."""

    correct: int
    excess: int  # predicted, but wrong
    missed: int  # not predicted

    def figures(self, scale: float = 1.0) -> Figures:
        """Returns precision, recall and F1: fractions (`scale` 1) or percentages (100)."""
        correct, excess, missed = self
        return precision_recall_f1(correct, correct + excess, correct + missed, scale)


class SrlScores(Scores):
    """
    Counts arguments by role and by kind of predicate. An argument is correct if its role and all of its
    pieces are. `V` is counted as a role, but neither overall nor in kinds.
    """

    def __init__(self) -> None:
        self.propositions = 0
        self.perfect = 0  # propositions whose predicted arguments are exactly the correct ones
        self._counts: Counter[tuple[str | None, str, str]] = Counter()  # by kind, role, field of `SrlCounts`

    def add(self, gold: Iterable[Argument], predicted: Iterable[Argument], kind: str | None = None) -> None:
        """Counts the arguments of one predicate, by any `kind`, such as "verb" or a lemma."""
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

    def role_counts(self) -> dict[str, SrlCounts]:
        """Returns the counts of each role, in order of the names, and of `V` as the last."""
        roles = self._sums(lambda kind, role: role)
        return dict(sorted(roles.items(), key=lambda item: item[0] == VERB))

    def kind_counts(self) -> dict[str, SrlCounts]:
        """Returns the counts of all arguments of each kind of predicate, in order of the names."""
        return self._sums(lambda kind, role: None if role == VERB else kind)

    def _sums(self, group: Callable[[str | None, str], str | None]) -> dict[str, SrlCounts]:
        """Returns the counts of each group of kinds and roles, in order of the names."""
        sums: dict[str, Counter[str]] = defaultdict(Counter)
        for (kind, role, outcome), number in self._counts.items():
            name = group(kind, role)
            if name is not None:
                sums[name][outcome] += number
        return {
            name: SrlCounts(*(counts[field] for field in SrlCounts._fields))
            for name, counts in sorted(sums.items())
        }


def join_continuations(arguments: Iterable[Argument]) -> list[tuple[str, Pieces]]:
    """
    Joins each `C-ARG0` to the last `ARG0` before it. A `C-ARG0` without one is an `ARG0`. Returns the role
    and the pieces of each argument of a predicate.
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
        """Adds predicates, each with its predicted and its gold BIO tags, and its kind."""
        all_kinds = [None] * len(gold) if kinds is None else kinds
        for tags, gold_tags, kind in zip(predicted, gold, all_kinds, strict=True):
            if len(tags) != len(gold_tags):
                raise ValueError(f"srl_f1: expected {len(gold_tags)} tags, got {len(tags)}")
            self._scores.add(tags_to_arguments(gold_tags), tags_to_arguments(tags), kind)

    @overrides(check_signature=False)
    def metrics(self, scores: SrlScores) -> dict[str, float]:
        """
        Returns `precision`, `recall` and `f1-measure`, from 0 to 1, each followed by `-overall`, by the name
        of each role, and by `-kind-` and each kind of predicate.
        """
        groups = {"overall": scores.overall(), **scores.role_counts()}
        groups |= {f"kind-{kind}": counts for kind, counts in scores.kind_counts().items()}
        return figures_by_group({group: counts.figures() for group, counts in groups.items()})

    @overrides(check_signature=False)
    def missing_gold(self, scores: SrlScores) -> str:
        correct, _, missed = scores.overall()
        return "arguments" if scores.propositions and not correct + missed else ""


def score_srl(gold_path: str, system_path: str) -> tuple[list[str], dict[str, Any]]:
    """
    Scores the propositions of a system against the gold propositions, both of the same sentences, see
    `read_sentences`. As in srl-eval.pl, predicates that the gold file lacks are skipped with a warning. If
    the system lacks a predicate, or has another lemma for it, all its arguments are missed, with a warning.

    Returns the lines that srl-eval.pl prints; and the counts and percentages of "Overall" and each role.

    Raises `ConfigurationError`, naming file and line, if a file is malformed or the sentences differ.
    """
    scores, sentences = SrlScores(), 0
    for gold, system in zip_longest(read_sentences(gold_path), read_sentences(system_path)):
        sentences += 1
        if gold is None or system is None:
            present, lacking = (system, gold_path) if gold is None else (gold, system_path)
            raise ConfigurationError(f"{present.location}: sentence {sentences} is missing in {lacking}")
        _add_sentence(scores, gold, system)
    if not sentences:
        raise ConfigurationError(f"{gold_path}: no sentences in this file")
    groups = {"Overall": scores.overall(), **scores.role_counts()}
    figures = {name: counts._asdict() | counts.figures(100).rounded() for name, counts in groups.items()}
    return _table(scores, sentences, groups), figures


def _add_sentence(scores: SrlScores, gold: SrlSentence, system: SrlSentence) -> None:
    """Counts the arguments of a sentence. Propositions with the same predicate belong together."""
    if len(gold.words) != len(system.words):
        raise ConfigurationError(
            f"{system.location}: the sentence that begins here has {len(system.words)} words, but "
            f"{len(gold.words)} in {gold.location}"
        )
    unmatched = {predicate.word: predicate for predicate in system.predicates}
    for word, lemma, _, arguments in gold.predicates:
        predicted = unmatched.pop(word, None)
        if predicted is not None and predicted.lemma == lemma:
            scores.add(arguments, predicted.arguments)
            continue
        name = "no predicate" if predicted is None else predicted.lemma
        location = f"{system.location}, word {word + 1}: {name} instead of {lemma}, as in {gold.location}"
        logger.warning("%s; all its arguments are missed", location)
        scores.add(arguments, [])
    for word, predicate in unmatched.items():
        message = f"{predicate.lemma} is not a predicate in {gold.location}; it is skipped"
        logger.warning("%s, word %d: %s", system.location, word + 1, message)


def _table(scores: SrlScores, sentences: int, groups: dict[str, SrlCounts]) -> list[str]:
    """Returns the lines that srl-eval.pl prints."""
    perfect = 100 * scores.perfect / scores.propositions if scores.propositions else 0.0
    rows = {name: _row(name, counts) for name, counts in groups.items()}
    return [
        f"Number of Sentences    :      {sentences:6d}",
        f"Number of Propositions :      {scores.propositions:6d}",
        f"Percentage of perfect props : {perfect:6.2f}",
        "",
        f"{'':10}   {'corr.':>6}  {'excess':>6}  {'missed':>6}   {'prec.':>6}  {'rec.':>6}  {'F1':>6}",
        _RULE,
        rows["Overall"],
        "-" * 10,
        *(row for name, row in rows.items() if name not in ("Overall", VERB)),
        _RULE,
        *(row for name, row in rows.items() if name == VERB),
        _RULE,
    ]


def _row(name: str, counts: SrlCounts) -> str:
    correct, excess, missed = counts
    precision, recall, f1 = counts.figures(100)
    return f"{name:>10}   {correct:6d}  {excess:6d}  {missed:6d}   {precision:6.2f}  {recall:6.2f}  {f1:6.2f}"
