"""Scores over the part of the data that was trained on (Peters et al., 2018, section 5.4, figure 1)."""

import itertools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.plotting import new_figure, save_figure
from elmo_plugin.sweeps.scores import Metric, summary
from elmo_plugin.sweeps.trainings import Training
from elmo_plugin.training import UPDATES

Curve = Mapping[float, Sequence[float]]  # of each fraction, the scores of its seeds


class Reach(NamedTuple):
    """
    What a configuration needs to reach the score of another with most of the data.

    name: of the configuration
    other: the other configuration
    score: of the other, the mean of its seeds
    fraction: the part of the data that is needed; `None` if no part is enough
    most: the largest part
    updates: of each seed, with the largest part; `None` if it never reaches the score; empty for a score of
        the test data
    """

    name: str
    other: str
    score: float
    fraction: float | None
    most: float
    updates: list[int | None]


def curves_of_results(results: Mapping[str, Any]) -> dict[str, dict[float, list[float]]]:
    """Returns the curve of each configuration from results, as of `--json`, with names such as `ner@0.1`."""
    curves: dict[str, dict[float, list[float]]] = {}
    for name, entry in results.items():
        configuration, _, fraction = name.partition("@")
        if fraction:
            curves.setdefault(configuration, {})[float(fraction)] = entry["scores"]
    return curves


def find_reaches(trainings: Sequence[Training], curves: Mapping[str, Curve], metric: Metric) -> list[Reach]:
    """Returns what each configuration needs to reach each other, from the files of the trainings."""
    reaches = []
    for name, other in itertools.permutations(curves, 2):
        most = max(curves[name])
        score = round(statistics.mean(curves[other][max(curves[other])]), 4)
        updates = [
            updates_to_reach(training.folder, score, metric)
            for training in trainings
            if (training.name, training.fraction) == (name, most) and not metric.is_of_test
        ]
        fraction = fraction_to_reach(curves[name], score, metric.higher_is_better)
        reaches.append(Reach(name, other, score, fraction, most, updates))
    return reaches


def reaches_text(reaches: Sequence[Reach]) -> str:
    """Returns a sentence for each."""
    lines = []
    for reach in reaches:
        needs = f"{reach.name} comes to the {reach.score:.2f} of {reach.other}"
        if reach.fraction is None:
            lines.append(f"No part of the data is enough that {needs}.\n")
        else:
            line = f"{needs} with {100 * reach.fraction:.3g} % of the data"
            if reach.updates:
                after = ", ".join("never" if each is None else f"{each:,}" for each in reach.updates)
                line += f"; with {100 * reach.most:g} %, after this many updates: {after}"
            lines.append(f"{line}.\n")
    return "".join(lines)


def curve_table(curves: Mapping[str, Curve], metric: str) -> str:
    """Returns a table in Markdown with a row for each fraction and a column for each configuration."""
    fractions = sorted({fraction for curve in curves.values() for fraction in curve})
    rows = [
        f"| part of the data | {' | '.join(f'{name}, {metric}' for name in curves)} |\n",
        f"| {' | '.join(['---'] * (1 + len(curves)))} |\n",
    ]
    for fraction in fractions:
        cells = [summary(curve.get(fraction, ())) for curve in curves.values()]
        rows.append(f"| {100 * fraction:g} % | {' | '.join(cells)} |\n")
    return "".join(rows)


def fraction_to_reach(curve: Curve, score: float, higher_is_better: bool) -> float | None:
    """
    Returns the part of the data with which the mean score is `score`, interpolated between two fractions on a
    logarithmic axis: the smallest fraction if that is better, `None` if no fraction is as good.
    """
    sign = 1 if higher_is_better else -1
    last: tuple[float, float] | None = None
    for fraction in sorted(curve):
        gain = sign * (statistics.mean(curve[fraction]) - score)
        if gain >= 0:
            if last is None:
                return fraction
            before, lack = last
            share = lack / (lack - gain)
            return math.exp(math.log(before) + share * (math.log(fraction) - math.log(before)))
        last = fraction, gain
    return None


def draw_curves(curves: Mapping[str, Curve], metric: str, path: str | Path) -> None:
    """
    Draws the mean score of each configuration over the part of the data, on a logarithmic axis, and how far
    its seeds spread.

    Raises `BiLmError` if matplotlib is not installed.
    """
    figure = new_figure(6, 4)
    axes = figure.add_subplot()
    for name, curve in curves.items():
        fractions = sorted(fraction for fraction in curve if curve[fraction])
        scores = [curve[fraction] for fraction in fractions]
        percent = [100 * fraction for fraction in fractions]
        axes.plot(percent, [statistics.mean(each) for each in scores], "o-", label=name)
        axes.fill_between(percent, [min(each) for each in scores], [max(each) for each in scores], alpha=0.2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g} %")
    axes.set_xlabel("part of the training data: mean and spread of the seeds")
    axes.set_ylabel(metric)
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(figure, path)


def updates_to_reach(folder: Path, score: float, metric: Metric) -> int | None:
    """
    Returns after how many updates of a training the score on the validation data was first as good, or `None`
    if it never was. Raises `ConfigurationError` if the files of `UpdatesCallback` are missing.
    """
    sign = 1 if metric.higher_is_better else -1
    name = f"validation_{metric.name}"
    try:
        for epoch, updates in enumerate(json.loads((folder / UPDATES).read_text(encoding="utf-8"))):
            metrics = json.loads((folder / f"metrics_epoch_{epoch}.json").read_text(encoding="utf-8"))
            if sign * (metric.score({f"best_{name}": metrics[name]}) - score) >= 0:
                return int(updates)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{folder}: its updates and scores cannot be read ({error})") from None
    return None
