"""Trains on random parts of the training data (Peters et al., 2018, section 5.4, figure 1).

    python experiments/sample_efficiency.py experiments/snli_baseline.jsonnet \\
        experiments/snli_elmo.jsonnet -s runs/snli_fractions --seeds 2 --fractions 0.01 0.1 1 \\
        --json runs/snli_fractions.json

takes the arguments of `elmo sweep`, and `--fractions`. The parts are nested, stratified by label,
and the same for all configurations. The training of CONFIG on a part is in `DIR/CONFIG@PART/SEED`.
Prints how much data, and how many updates with the largest part, each configuration needs to reach
the other's best score. `docs/draw_fractions.py` draws what `--json` has.
"""

import argparse
import itertools
import json
import math
import random
import shlex
import statistics
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_plugin.archives import import_all_plugins
from elmo_plugin.commands.command import COMMANDS
from elmo_plugin.commands.parser import make_parser
from elmo_plugin.common.files import write_json
from elmo_plugin.sweeps.configs import read_configs
from elmo_plugin.sweeps.scores import Metric, find_metric
from elmo_plugin.sweeps.trainings import find_trainings

Curve = dict[float, Sequence[float]]  # the scores of the seeds with each part of the data


@DatasetReader.register("fraction", exist_ok=True)
class FractionReader(DatasetReader):
    """
    Reads a random part of what `base_reader` reads, in order, of each label of a field `label` the
    same part, and at least one instance. The part depends on torch's seed; a larger part contains a
    smaller one.
    """

    def __init__(self, base_reader: DatasetReader, fraction: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 < fraction <= 1:
            raise ConfigurationError(f"fraction: expected a number in (0, 1], got {fraction}")
        self._base_reader = base_reader
        self._fraction = fraction
        self._seed = torch.initial_seed()

    @overrides
    def _read(self, file_path: str) -> Iterable[Instance]:
        # Workers and processes divide the part among them, so the base reader reads the whole.
        limit = self._base_reader.max_instances
        instances = list(itertools.islice(self._base_reader._read(file_path), limit))
        by_label: dict[Hashable, list[int]] = defaultdict(list)
        for number, instance in enumerate(instances):
            label = instance.fields.get("label")
            by_label[label.label if isinstance(label, LabelField) else None].append(number)
        generator = random.Random(self._seed)
        part: list[int] = []
        for numbers in by_label.values():
            generator.shuffle(numbers)
            part += numbers[: math.ceil(self._fraction * len(numbers))]
        yield from (instances[number] for number in sorted(part))

    @overrides
    def text_to_instance(self, *args: Any, **kwargs: Any) -> Instance:
        return self._base_reader.text_to_instance(*args, **kwargs)

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        self._base_reader.apply_token_indexers(instance)


@TrainerCallback.register("updates", exist_ok=True)
class UpdatesCallback(TrainerCallback):
    """Writes `updates.json`, a list with the number of updates after each epoch."""

    @overrides
    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._updates: list[int] = []

    @overrides
    def on_epoch(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        self._updates.append(trainer._total_batches_completed)
        write_json(Path(self.serialization_dir) / "updates.json", self._updates)


def main() -> None:
    parser = make_parser(COMMANDS["sweep"])
    parser.description = __doc__
    parser.usage = None  # made from the arguments, with the one that is added here
    parser.add_argument("--fractions", type=float, nargs="+", required=True, metavar="PART")
    args = parser.parse_args()
    import_all_plugins("this program")
    folder = Path(args.serialization_dir)
    configs = {
        name: c
        for source in args.configs
        for name, c in read_configs(source, args.overrides).items()
    }
    variants = {
        f"{name}@{fraction:g}": with_fraction(config, fraction)
        for name, config in configs.items()
        for fraction in sorted({*args.fractions})
    }
    write_json(folder / "configs.json", variants)
    scores_file = args.json or str(folder / "scores.json")
    sources = [f"{folder}/configs.json:*"]
    arguments_of_sweep = vars(args) | {
        "configs": sources,
        "overrides": "",
        "json": scores_file,
        "include_package": ["sample_efficiency"],  # for the processes of --workers
    }
    COMMANDS["sweep"].execute(argparse.Namespace(**arguments_of_sweep))
    results = json.loads(Path(scores_file).read_text(encoding="utf-8"))
    metric = find_metric(find_trainings(sources, folder, args.seeds), args.metric)
    curves = curves_of_results({name: results[name] for name in variants})
    for name, other in itertools.permutations(curves, 2):
        most = max(curves[name])
        choose = max if metric.higher_is_better else min
        score = round(choose(map(statistics.mean, curves[other].values())), 4)
        fraction = fraction_to_reach(curves[name], score, metric.higher_is_better)
        runs = [folder / f"{name}@{most:g}" / str(seed) for seed in args.seeds]
        updates = []
        if not metric.is_of_test_data:
            updates = [updates_to_reach(run, score, metric) for run in runs]
        reach = {"score": score, "fraction": fraction, "updates": updates}
        results[f"{name}@{most:g}"].setdefault("reaches", {})[other] = reach
        print(f"{name} reaches the {score:.2f} of {other} with this part of the data: {fraction}")
        print(f"  with {100 * most:g} % of the data, after this many updates: {updates}")
    for name in variants:
        results[name]["command"] = f"python {shlex.join(sys.argv)}"
    write_json(scores_file, results)


def with_fraction(config: dict[str, Any], fraction: float) -> dict[str, Any]:
    """
    Returns the configuration with a part of its training data; the validation data stay whole.
    """
    reader = config.get("dataset_reader")
    if not isinstance(reader, dict):
        raise ConfigurationError("for a part of the data, a configuration needs a dataset_reader")
    trainer = config.get("trainer", {})
    return config | {
        "dataset_reader": {"type": "fraction", "base_reader": reader, "fraction": fraction},
        "validation_dataset_reader": config.get("validation_dataset_reader") or reader,
        "trainer": trainer | {"callbacks": [*(trainer.get("callbacks") or []), "updates"]},
    }


def curves_of_results(results: Mapping[str, Any]) -> dict[str, Curve]:
    """Returns the curve of each configuration from results with names such as `ner@0.1`."""
    curves: dict[str, Curve] = {}
    for name, entry in results.items():
        configuration, _, fraction = name.partition("@")
        if fraction:
            curves.setdefault(configuration, {})[float(fraction)] = entry["scores"]
    return curves


def fraction_to_reach(curve: Curve, score: float, higher_is_better: bool) -> float | None:
    """
    Returns the part of the data with which the mean score is `score`, interpolated between two
    parts on a logarithmic axis: the smallest part if that is better, `None` if no part is as good.
    """
    sign = 1 if higher_is_better else -1
    last: tuple[float, float] | None = None
    for fraction in sorted(curve):
        gain = sign * (statistics.mean(curve[fraction]) - score)
        if gain >= 0:
            if last is None:
                return fraction
            before, lack = last
            return before * (fraction / before) ** (lack / (lack - gain))
        last = fraction, gain
    return None


def updates_to_reach(run: Path, score: float, metric: Metric) -> int | None:
    """
    Returns after how many updates the validation score of a training was first as good, if it ever
    was.
    """
    sign = 1 if metric.higher_is_better else -1
    for epoch, updates in enumerate(json.loads((run / "updates.json").read_text(encoding="utf-8"))):
        metrics = json.loads((run / f"metrics_epoch_{epoch}.json").read_text(encoding="utf-8"))
        value = metrics[f"validation_{metric.name}"]
        if sign * (metric.score({f"best_validation_{metric.name}": value}) - score) >= 0:
            return int(updates)
    return None


if __name__ == "__main__":
    main()
