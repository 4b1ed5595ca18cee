"""Draws figure 1 of Peters et al. (2018), scores over parts of the training data, from the results of sweeps.

    python docs/draw_fractions.py docs/results/snli_fractions.json accuracy docs/images/snli_fractions.svg

takes the file of `allennlp elmo-sweep --fractions … --json FILE`. A sweep draws the same plot; this is for a
file with the results of several sweeps, such as when small parts need other options.
"""

import json
import sys
from pathlib import Path

from elmo_plugin.sweeps import curves_of_results, draw_curves

if __name__ == "__main__":
    file, metric, output = sys.argv[1:]
    results = json.loads(Path(file).read_text(encoding="utf-8"))
    draw_curves(curves_of_results(results), f"{metric} (%)", output)
