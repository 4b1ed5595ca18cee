"""Draws figure 1 of Peters et al. (2018), scores over parts of the training data, from the results of sweeps.

    python docs/draw_fractions.py docs/results/snli_fractions.json accuracy docs/images/snli_fractions.svg

takes what `allennlp elmo-sweep --fractions … --json FILE` wrote. A sweep draws the same; this is for results
of several sweeps in one file, of which smaller parts had other options.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo_plugin.sweeps import draw_curves


def read_curves(results: Mapping[str, Any]) -> dict[str, dict[float, list[float]]]:
    """Returns the scores of each configuration for each part of the data."""
    curves: dict[str, dict[float, list[float]]] = {}
    for name, entry in results.items():
        configuration, _, fraction = name.partition("@")
        if fraction:
            curves.setdefault(configuration, {})[float(fraction)] = entry["scores"]
    return curves


if __name__ == "__main__":
    file, metric, output = sys.argv[1:]
    draw_curves(read_curves(json.loads(Path(file).read_text(encoding="utf-8"))), f"{metric} (%)", output)
