"""The scores of several trainings of each configuration, as a table and as a picture."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from elmo_plugin.common.files import replace_when_written

Scores = Mapping[str, Sequence[float]]  # of each configuration, those of its seeds


def summary(scores: Sequence[float], digits: int = 2) -> str:
    """Their mean and, of two or more, their sample standard deviation: `37.46 ± 1.82`."""
    if not scores:
        return "none"
    mean = f"{statistics.mean(scores):.{digits}f}"
    return mean if len(scores) == 1 else f"{mean} ± {statistics.stdev(scores):.{digits}f}"


def table(scores: Scores, metric: str) -> str:
    """In Markdown, one row for each configuration."""
    rows = [f"| configuration | {metric}, mean ± sd | of each seed |\n", "| --- | --- | --- |\n"]
    for name, values in scores.items():
        rows.append(f"| {name} | {summary(values)} | {', '.join(f'{value:.2f}' for value in values)} |\n")
    return "".join(rows)


def draw(scores: Scores, metric: str, path: str | Path) -> None:
    """
    Draws a row for each configuration: a dot for each seed, and a line at their mean.

    Raises `ImportError` where matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1 + 0.3 * len(scores)), layout="constrained")
    axes = figure.add_subplot()
    for row, values in enumerate(scores.values()):
        axes.plot(values, [row] * len(values), "o", color="tab:blue", alpha=0.6)
        if values:
            axes.plot(statistics.mean(values), row, "|", color="black", markersize=14)
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)  # the first at the top
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"{metric}: seeds and their mean")
    with replace_when_written(path) as temporary:
        figure.savefig(temporary)
