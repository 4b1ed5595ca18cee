"""Correct, excess and missed arguments, counted as srl-eval.pl counts them, the scorer of CoNLL-2005."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.tasks.counting import Figures, ScoreMetric, Scores, figures_by_group, precision_recall_f1
from elmo_plugin.tasks.spans import Span, tags_to_spans
from elmo_plugin.tasks.srl.dataset_reader import read_sentences
from elmo_plugin.tasks.srl.sentences import VERB, SrlSentence

logger = logging.getLogger(__name__)

Pieces = tuple[tuple[int, int], ...]  # start and end of each part of an argument


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
    Counts arguments by role. An argument is correct if its role and all of its pieces are. `V` is counted as
    a role, but not overall.
    """

    def __init__(self) -> None:
        self.propositions = 0
        self._counts: Counter[tuple[str, str]] = Counter()  # by role, and by field of `SrlCounts`

    def add(self, gold: Iterable[Span], predicted: Iterable[Span]) -> None:
        """Counts the arguments of one predicate."""
        right, found = set(join_continuations(gold)), set(join_continuations(predicted))
        outcomes = {"correct": right & found, "excess": found - right, "missed": right - found}
        for outcome, arguments in outcomes.items():
            self._counts.update((role, outcome) for role, _ in arguments)
        self.propositions += 1

    def overall(self) -> SrlCounts:
        """Returns the counts of all arguments."""
        roles = self.role_counts()
        return SrlCounts(*map(sum, zip((0, 0, 0), *(roles[role] for role in roles if role != VERB))))  # noqa: B905

    def role_counts(self) -> dict[str, SrlCounts]:
        """Returns the counts of each role, in order of the names, and of `V` as the last."""
        roles = sorted({role for role, _ in self._counts}, key=lambda role: (role == VERB, role))
        return {
            role: SrlCounts(*(self._counts[role, field] for field in SrlCounts._fields)) for role in roles
        }


def join_continuations(arguments: Iterable[Span]) -> list[tuple[str, Pieces]]:
    """
    Joins each `C-ARG0` to the last `ARG0` before it. A `C-ARG0` without one is an `ARG0`. Returns the role
    and the pieces of each argument of a predicate.
    """
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}  # the pieces of the last argument of each role
    for start, end, role in sorted(arguments):
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
        self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]
    ) -> None:
        """Adds predicates, each with its predicted and its gold BIO tags."""
        for tags, gold_tags in zip(predicted, gold, strict=True):
            if len(tags) != len(gold_tags):
                raise ValueError(f"srl_f1: expected {len(gold_tags)} tags, got {len(tags)}")
            self._scores.add(tags_to_spans(gold_tags), tags_to_spans(tags))

    @overrides(check_signature=False)
    def metrics(self, scores: SrlScores) -> dict[str, float]:
        """
        Returns `precision`, `recall` and `f1-measure`, from 0 to 1, each followed by `-overall` and by the
        name of each role.
        """
        groups = {"overall": scores.overall(), **scores.role_counts()}
        return figures_by_group({group: counts.figures() for group, counts in groups.items()})

    @overrides(check_signature=False)
    def missing_gold(self, scores: SrlScores) -> str:
        correct, _, missed = scores.overall()
        return "arguments" if scores.propositions and not correct + missed else ""


def score_srl(gold_path: str, system_path: str) -> dict[str, Any]:
    """
    Scores the propositions of a system against the gold propositions, both of the same sentences, see
    `read_sentences`. As in srl-eval.pl, predicates that the gold file lacks are skipped with a warning. If
    the system lacks a predicate, or has another lemma for it, all its arguments are missed, with a warning.

    Returns the counts and percentages of "Overall" and of each role.

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
    return {name: counts._asdict() | counts.figures(100).rounded() for name, counts in groups.items()}


def _add_sentence(scores: SrlScores, gold: SrlSentence, system: SrlSentence) -> None:
    """Counts the arguments of a sentence. Propositions with the same predicate belong together."""
    if len(gold.words) != len(system.words):
        raise ConfigurationError(
            f"{system.location}: the sentence that begins here has {len(system.words)} words, but "
            f"{len(gold.words)} in {gold.location}"
        )
    unmatched = {predicate.word: predicate for predicate in system.predicates}
    for word, lemma, arguments, _ in gold.predicates:
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
