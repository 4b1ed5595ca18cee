"""Draws the curve of a biLM's training from the folder of `allennlp train`.

    python docs/draw_training.py runs/bilm_tiny runs/bilm_continued docs/images/tiny_training.svg

draws one run behind the other; each began where the one before had ended. The line is the
mean loss between two lines of the callback `bilm_progress`; the dots are the perplexities on the
validation text.
"""

import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_plugin.common.files import atomic_write

PROGRESS = re.compile(
    r" - epoch (\d+)/\d+, step ([\d,]+)/[\d,]+ .* (?:sampled loss|perplexity) ([\d.]+),"
)


class Point(NamedTuple):
    """
    epoch: the number of the epoch, from 1
    step: finished steps of all epochs
    loss: the mean since the beginning of the epoch
    """

    epoch: int
    step: int
    loss: float


def read_points(log: str) -> list[Point]:
    """Parses the progress lines of a log, taking the last of repeated steps after a resume."""
    found = (
        Point(int(epoch), int(step.replace(",", "")), float(loss))
        for epoch, step, loss in PROGRESS.findall(log)
    )
    return sorted({point.step: point for point in found}.values(), key=lambda point: point.step)


def losses_between(points: list[Point], steps_of_epoch: int) -> list[tuple[int, float]]:
    """Returns the mean loss between points of the same epoch, at the step of the later one."""
    curve = []
    for earlier, later in pairwise(points):
        if earlier.epoch == later.epoch:
            begin = (later.epoch - 1) * steps_of_epoch
            total = later.loss * (later.step - begin) - earlier.loss * (earlier.step - begin)
            curve.append((later.step, total / (later.step - earlier.step)))
    return curve


def main(runs: list[Path], picture: Path) -> None:
    figure = Figure(figsize=(7, 3), layout="constrained")
    left = figure.add_subplot()
    right = left.twinx()
    done = 0  # steps of the runs before
    for run in runs:
        done = draw(run, left, right, done)
    left.set_xlabel("steps of 2 x 2,560 words")
    left.set_ylabel("sampled loss")
    right.set_ylabel("perplexity")
    right.margins(y=0.3)
    lines = left.get_lines()[:1] + right.get_lines()[:1]
    figure.legend(
        lines,
        ["sampled loss (left)", "perplexity on heldout-dev (right)"],
        loc="outside upper center",
        ncols=2,
    )
    with atomic_write(picture) as temporary:
        figure.savefig(temporary)


def draw(run: Path, left: Axes, right: Axes, done: int) -> int:
    """Draws a run that starts at step `done`; returns its last step."""
    points = read_points((run / "out.log").read_text(encoding="utf-8"))
    epochs = range(len(list(run.glob("metrics_epoch_*.json"))))
    metrics = [json.loads((run / f"metrics_epoch_{number}.json").read_text()) for number in epochs]
    ends = [max(point.step for point in points if point.epoch == number + 1) for number in epochs]
    steps, losses = zip(*losses_between(points, ends[0]), strict=True)
    left.plot([done + step for step in steps], losses, linewidth=1, color="tab:blue")
    for end, metric in zip(ends, metrics, strict=True):
        perplexity = metric["validation_perplexity"]
        right.plot(done + end, perplexity, "o", color="tab:orange")
        right.annotate(
            f"{perplexity:.1f}",
            (done + end, perplexity),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
        )
    return done + ends[-1]


if __name__ == "__main__":
    *runs, picture = map(Path, sys.argv[1:])
    main(runs, picture)
