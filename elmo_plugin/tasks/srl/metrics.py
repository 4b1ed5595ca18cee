"""Correct, excess and missed arguments, counted as srl-eval.pl counts them, the scorer of
CoNLL-2005.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.label_names import beside_names
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.counting import SpanCounts, SpanF1
from elmo_plugin.tasks.spans import Span, tags_to_spans
from elmo_plugin.tasks.srl.sentences import VERB, SrlSentence

_OVERALL = "Overall"  # as srl-eval.pl spells it

logger = get_logger(__name__)

Pieces = tuple[tuple[int, int], ...]  # start and end of each part of an argument


def join_continuations(arguments: Iterable[Span]) -> list[tuple[str, Pieces]]:
    """
    Joins the continuations of arguments to the arguments of a predicate: each `C-ARG0` to the last
    `ARG0` before it. If there is none, the `C-ARG0` becomes an `ARG0`. Returns the role and the
    pieces of each argument.
    """
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    last_pieces: dict[str, list[tuple[int, int]]] = {}  # pieces of the last argument of each role
    for start, end, label in sorted(arguments):
        role = label.removeprefix("C-")
        is_continuation = label != role and role in last_pieces
        if is_continuation:
            last_pieces[role].append((start, end))
        else:
            pieces = [(start, end)]  # continuations that follow are appended to this list
            joined.append((role, pieces))
            last_pieces[role] = pieces
    return [(role, tuple(pieces)) for role, pieces in joined]


@Metric.register("srl_f1")
class SrlF1(SpanF1):
    """
    Precision, recall and F1 of whole arguments, as srl-eval.pl counts them, over all processes. An
    argument is correct if its role and all of its pieces are. `V` is counted as a role, but not
    overall.

    Registered as a `Metric` with name "srl_f1".
    """

    label_outside_totals = VERB

    def __call__(  # type: ignore[override]
        self, predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]
    ) -> None:
        """
        Adds predicates, each with the predicted and the gold BIO tags of the words of its sentence.
        """
        for tags, gold_tags in zip(predicted, gold, strict=True):
            if len(tags) != len(gold_tags):
                raise ValueError(f"srl_f1: expected {len(gold_tags)} tags, got {len(tags)}")
            self.add(gold=tags_to_spans(gold_tags), predicted=tags_to_spans(tags))

    def add(self, gold: Iterable[Span], predicted: Iterable[Span]) -> None:
        """
        Adds one predicate with its arguments. A predicted argument is correct if a gold one has the
        same role and the same pieces.
        """
        gold_arguments = set(join_continuations(gold))
        predicted_arguments = set(join_continuations(predicted))
        correct_arguments = gold_arguments & predicted_arguments
        self.counts["correct"].update(role for role, _ in correct_arguments)
        self.counts["predicted"].update(role for role, _ in predicted_arguments)
        self.counts["gold"].update(role for role, _ in gold_arguments)
        self.counts["propositions"]["all"] += 1

    @overrides
    def missing_gold(self) -> str:
        roles = self.counts["gold"].keys() - {VERB}
        if self.counts["propositions"] and not roles:
            return "arguments"
        return ""


def score_srl(gold: Iterable[SrlSentence], system: Iterable[SrlSentence]) -> dict[str, Any]:
    """
    Scores the propositions of a system (its predicates with their arguments) against the gold
    propositions of the same sentences. As in srl-eval.pl, predicates that are not in the gold
    sentences are skipped with a warning. If the system misses a predicate, or gives it another
    lemma, all its arguments count as missed, with a warning. Returns the counts and percentages of
    "Overall" and of each role; a role "Overall" becomes "label_Overall".

    Raises `ConfigurationError`, naming file and line, if the two differ in the number of sentences,
    or a sentence in the number of words.
    """
    metric = SrlF1()
    pairs = zip_longest(gold, system)  # `None` stands for the sentences that one side lacks
    for number, (gold_sentence, system_sentence) in enumerate(pairs, start=1):
        if gold_sentence is None:
            raise _missing_sentence_error(system_sentence, number, "the gold data")
        if system_sentence is None:
            raise _missing_sentence_error(gold_sentence, number, "the output of the system")
        _add_sentence(metric, gold_sentence, system_sentence)
    overall = _as_printed(metric.overall_counts())
    by_role = {role: _as_printed(counts) for role, counts in metric.label_counts().items()}
    return {_OVERALL: overall, **beside_names([_OVERALL], by_role)}


def _as_printed(counts: SpanCounts) -> dict[str, float]:
    """Returns counts and percentages, as srl-eval.pl prints them."""
    named_counts = {
        "correct": counts.correct,
        "excess": counts.predicted - counts.correct,
        "missed": counts.gold - counts.correct,
    }
    return named_counts | counts.figures(scale=100).rounded()


def _missing_sentence_error(sentence: SrlSentence, number: int, where: str) -> ConfigurationError:
    """Returns the error for a sentence that only one side has."""
    return ConfigurationError(f"{sentence.location}: sentence {number} is missing in {where}")


def _add_sentence(metric: SrlF1, gold: SrlSentence, system: SrlSentence) -> None:
    """
    Adds the gold predicates of a sentence to the metric, each with the arguments that the system
    gives to this predicate. Warns of predicates that the system misses, gives another lemma, or has
    in excess. Raises `ConfigurationError` if the sentences differ in length.
    """
    if len(gold.words) != len(system.words):
        raise ConfigurationError(
            f"{system.location}: the sentence that begins here has {len(system.words)} words, but "
            f"{len(gold.words)} in {gold.location}"
        )
    unmatched = {predicate.word_index: predicate for predicate in system.predicates}
    for predicate in gold.predicates:
        predicted = unmatched.pop(predicate.word_index, None)
        if predicted is not None and predicted.lemma == predicate.lemma:
            metric.add(gold=predicate.arguments, predicted=predicted.arguments)
            continue
        predicted_lemma = "no predicate"
        if predicted is not None:
            predicted_lemma = predicted.lemma
        logger.warning(
            "%s, word %d: %s instead of %s, as in %s; all its arguments are missed",
            system.location,
            predicate.word_index + 1,
            predicted_lemma,
            predicate.lemma,
            gold.location,
        )
        metric.add(gold=predicate.arguments, predicted=[])
    for word, in_excess in unmatched.items():
        message = f"{in_excess.lemma} is not a predicate in {gold.location}; it is skipped"
        logger.warning("%s, word %d: %s", system.location, word + 1, message)
