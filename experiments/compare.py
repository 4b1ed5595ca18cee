"""Trains a task's baseline and its ELMo model with several seeds, and writes their scores side by side.

    python experiments/compare.py ner --data ../shared/data/ner --seeds 1 2 3 --json docs/results/ner.json

The configurations are `experiments/{task}_baseline.jsonnet` and `experiments/{task}_elmo.jsonnet`, on the
files `train.txt` and `dev.txt` of `--data`. A training that is finished in `--runs` is not done again, so
that a run that was broken off can be taken up. `python docs/update_readme.py` then makes the README's table.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.util import import_module_and_submodules

from elmo_plugin.bilm.files import write_json

VARIANTS = ("baseline", "elmo")
FILES = {"train": "train.txt", "validation": "dev.txt"}
METRICS = {"ner": "f1-measure-overall"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task", choices=METRICS)
    parser.add_argument("--data", required=True, help="the folder of train.txt and dev.txt")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--json", type=Path, required=True, help="where to write the scores")
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/compare"), help="where the trainings are kept"
    )
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    args = parser.parse_args()
    import_module_and_submodules("elmo_plugin.plugin")
    data = {f"{part}_data_path": f"{args.data}/{file}" for part, file in FILES.items()}
    scores: dict[str, Any] = {"command": f"python {shlex.join(sys.argv)}"}
    for variant in args.variants:
        scores[variant] = []
        for seed in args.seeds:
            seeds = {f"{library}_seed": seed for library in ("random", "numpy", "pytorch")}
            run = args.runs / f"{args.task}_{variant}_{seed}"
            scores[variant].append(train(args.task, variant, run, {**data, **seeds}))
    write_json(args.json, scores)


def train(task: str, variant: str, run: Path, overrides: dict[str, Any]) -> float:
    """The best score on dev, in per cent, of a training that is done here or was done before."""
    if not (run / "metrics.json").is_file():
        params = Params.from_file(f"experiments/{task}_{variant}.jsonnet", json.dumps(overrides))
        train_model(params, serialization_dir=run, force=True)
    metrics = json.loads((run / "metrics.json").read_text())
    return round(100 * metrics[f"best_validation_{METRICS[task]}"], 2)


if __name__ == "__main__":
    main()
