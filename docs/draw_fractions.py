"""Draws figure 1 of Peters et al. (2018), scores over parts of the training data, from results.

    python docs/draw_fractions.py docs/results/snli_fractions.json accuracy
    docs/images/snli_fractions.svg

takes the file of `experiments/sample_efficiency.py --json`: for each configuration the mean score
over the part of the data, on a logarithmic axis, and how far its seeds spread.
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from matplotlib.figure import Figure


def draw(results: dict[str, dict], metric: str, path: str) -> None:
    """Draws the curves of results with names such as `ner@0.1`."""
    curves: dict[str, dict[float, list[float]]] = defaultdict(dict)
    for name, entry in results.items():
        configuration, _, fraction = name.partition("@")
        curves[configuration][float(fraction)] = entry["scores"]
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, curve in curves.items():
        percent = [100 * fraction for fraction in sorted(curve)]
        scores = [curve[fraction] for fraction in sorted(curve)]
        axes.plot(percent, list(map(statistics.mean, scores)), "o-", label=name)
        axes.fill_between(percent, list(map(min, scores)), list(map(max, scores)), alpha=0.2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g} %")
    axes.set_xlabel("part of the training data: mean and spread of the seeds")
    axes.set_ylabel(metric)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    file, metric, output = sys.argv[1:]
    draw(json.loads(Path(file).read_text(encoding="utf-8")), f"{metric} (%)", output)
