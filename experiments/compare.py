"""Trains a task's baseline and its ELMo model with several seeds, and writes their scores side by side.

    python experiments/compare.py ner --data ../shared/data/ner --seeds 1 2 3 --json docs/results/ner.json

The configurations are `experiments/{task}_baseline.jsonnet` and `experiments/{task}_elmo.jsonnet`, on the
files `train.txt` and `dev.txt` of `--data`. A training that is finished in `--runs` is not done again, so
that a run that was broken off can be taken up. With `--variants`, the file keeps what it has of the others,
and each variant is there with the command that it came from. `python docs/update_readme.py` then makes the
README's table.
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
from allennlp.models.archival import CONFIG_NAME

from elmo_plugin.bilm.files import write_json

VARIANTS = ("baseline", "elmo")
FILES = {"train": "train.txt", "validation": "dev.txt"}
METRICS = {"ner": "f1-measure-overall"}
BILM = "model.contextual_encoder.text_field_embedder.token_embedders.elmo.bilm"


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
    results = json.loads(args.json.read_text()) if args.json.is_file() else {}
    for variant in args.variants:
        scores = scores_of_seeds(args.task, variant, args.data, args.seeds, args.runs)
        results[variant] = {"scores": scores, "command": f"python {shlex.join(sys.argv)}"}
        write_json(args.json, results)


def scores_of_seeds(
    task: str, variant: str, data: str | Path, seeds: list[int], runs: Path, bilm: str | None = None
) -> list[float]:
    """The best score on dev, in per cent, of each seed; `bilm` takes the place of the configuration's."""
    scores = []
    for seed in seeds:
        overrides = {f"{library}_seed": seed for library in ("random", "numpy", "pytorch")}
        overrides |= {f"{part}_data_path": f"{data}/{file}" for part, file in FILES.items()}
        overrides |= {} if bilm is None else {BILM: bilm}
        params = Params.from_file(f"experiments/{task}_{variant}.jsonnet", json.dumps(overrides))
        metrics = train(params, runs / f"{task}_{variant}_{seed}")
        scores.append(round(100 * metrics[f"best_validation_{METRICS[task]}"], 2))
    return scores


def train(params: Params, run: Path) -> dict[str, Any]:
    """The metrics of a training that is done here or was done before."""
    if not (run / "metrics.json").is_file():
        train_model(params, serialization_dir=run, force=True)
    elif Params.from_file(run / CONFIG_NAME).as_dict(quiet=True) != params.as_dict(quiet=True):
        raise SystemExit(f"{run} is a training with another configuration: give another folder to --runs")
    return json.loads((run / "metrics.json").read_text())


if __name__ == "__main__":
    main()
