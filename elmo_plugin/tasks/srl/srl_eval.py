"""The scorer of CoNLL-2005, srl-eval.pl: the propositions of a system against the right ones."""

import logging
from itertools import zip_longest
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.srl.metrics import VERB, SrlCounts, SrlScores
from elmo_plugin.tasks.srl.props import PropsSentence, read_props

logger = logging.getLogger(__name__)

_RULE = "-" * 60


def score_props(gold_path: str, system_path: str) -> tuple[list[str], dict[str, Any]]:
    """
    Scores the propositions of a system. As in srl-eval.pl, those of predicates that are not in the gold file
    are skipped with a warning, and all arguments are missed, with a warning, where the system lacks a
    predicate or has another lemma for it.

    # Parameters

    gold_path : `str`
        The props file with what is right.
    system_path : `str`
        The props file of the system, with the same sentences.

    # Returns

    `tuple[list[str], dict[str, Any]]`
        The lines that srl-eval.pl prints; and the counts and percentages of "Overall" and each role.

    Raises `ConfigurationError`, naming file and line, where a file is malformed, and where the sentences
    differ.
    """
    scores, sentences = SrlScores(), 0
    for gold, system in zip_longest(read_props(gold_path), read_props(system_path)):
        sentences += 1
        if gold is None or system is None:
            present, lacking = (system, gold_path) if gold is None else (gold, system_path)
            raise ConfigurationError(f"{present.location()}: sentence {sentences} is missing in {lacking}")
        add_sentence(scores, gold, system)
    if not sentences:
        raise ConfigurationError(f"{gold_path}: this file has no sentences")
    return table(scores, sentences), figures(scores)


def add_sentence(scores: SrlScores, gold: PropsSentence, system: PropsSentence) -> None:
    """
    Counts the arguments of a sentence; the place of a predicate says which belong together.

    Raises `ConfigurationError` where the numbers of words differ.
    """
    if gold.length != system.length:
        raise ConfigurationError(
            f"{system.location()}: the sentence that begins here has {system.length} words, but "
            f"{gold.length} in {gold.location()}"
        )
    found = {proposition.predicate: proposition for proposition in system.propositions}
    for place, lemma, arguments in gold.propositions:
        predicted = found.pop(place, None)
        if predicted is not None and predicted.lemma == lemma:
            scores.add(arguments, predicted.arguments)
            continue
        instead = "no predicate" if predicted is None else predicted.lemma
        location = f"{system.location(place)}: {instead} instead of {lemma}, as in {gold.location(place)}"
        logger.warning("%s; all its arguments are missed", location)
        scores.add(arguments, [])
    for place, proposition in found.items():
        logger.warning(
            "%s: %s is not a predicate in %s; it is skipped",
            system.location(place),
            proposition.lemma,
            gold.location(place),
        )


def figures(scores: SrlScores) -> dict[str, dict[str, float]]:
    """
    Returns the counts and, with two decimals, the percentages of "Overall" and of each role, with `V` as the
    last.
    """
    groups = {"Overall": scores.overall(), **scores.of_roles()}
    return {name: counts._asdict() | _percents(counts) for name, counts in groups.items()}


def _percents(counts: SrlCounts) -> dict[str, float]:
    percents = [round(percent, 2) for percent in counts.figures(100)]
    return dict(zip(("precision", "recall", "f1"), percents, strict=True))


def table(scores: SrlScores, sentences: int) -> list[str]:
    """Returns the lines that srl-eval.pl prints after it has read a number of sentences."""
    propositions = scores.propositions
    perfect = 100 * scores.perfect / propositions if propositions else 0.0
    roles = scores.of_roles()
    return [
        f"Number of Sentences    :      {sentences:6d}",
        f"Number of Propositions :      {propositions:6d}",
        f"Percentage of perfect props : {perfect:6.2f}",
        "",
        f"{'':10}   {'corr.':>6}  {'excess':>6}  {'missed':>6}   {'prec.':>6}  {'rec.':>6}  {'F1':>6}",
        _RULE,
        _row("Overall", scores.overall()),
        "-" * 10,
        *(_row(role, counts) for role, counts in roles.items() if role != VERB),
        _RULE,
        *(_row(role, counts) for role, counts in roles.items() if role == VERB),
        _RULE,
    ]


def _row(name: str, counts: SrlCounts) -> str:
    correct, excess, missed = counts
    precision, recall, f1 = counts.figures(100)
    return f"{name:>10}   {correct:6d}  {excess:6d}  {missed:6d}   {precision:6.2f}  {recall:6.2f}  {f1:6.2f}"
