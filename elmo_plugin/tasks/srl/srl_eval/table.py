"""The figures and the table of the scorer of CoNLL-2005, srl-eval.pl."""

from elmo_plugin.tasks.srl.metrics import VERB, Counts, SrlScores

_RULE = "-" * 60


def figures(scores: SrlScores) -> dict[str, dict[str, float]]:
    """
    Returns the counts and, with two decimals, the percentages of "Overall" and of each role, with `V` as the
    last.
    """
    groups = {"Overall": scores.overall(), **scores.of_roles()}
    return {name: counts._asdict() | _percents(counts) for name, counts in groups.items()}


def _percents(counts: Counts) -> dict[str, float]:
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


def _row(name: str, counts: Counts) -> str:
    correct, excess, missed = counts
    precision, recall, f1 = counts.figures(100)
    return f"{name:>10}   {correct:6d}  {excess:6d}  {missed:6d}   {precision:6.2f}  {recall:6.2f}  {f1:6.2f}"
