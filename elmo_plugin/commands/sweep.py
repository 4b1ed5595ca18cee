"""Train configurations with several seeds and compare them. Finished trainings in DIR are not
repeated: a sweep that was stopped continues when you start it again, and you may add seeds and
configurations. --json writes the scores of all, with this command. Several --workers need Dask, and
share the cores.

    elmo sweep config.jsonnet -s runs --seeds 5
    elmo sweep baseline.jsonnet elmo.jsonnet -s runs --seeds 3,7 --json scores.json
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from elmo_plugin.commands.options import InputPath, OutputPath, add, add_shared
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.streams import show

NEEDS = "allennlp"


class ConfigPath(InputPath):
    """A configuration: `FILE`, or `FILE:VARIANT`."""

    kind = "configuration"

    def _is_found(self) -> bool:
        return os.path.isfile(self.rpartition(":")[0])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = "a configuration, as for `allennlp train`, or FILE:VARIANT; 'FILE:sst_*' for several"
    add(parser, "configs CONFIG", about, ConfigPath, nargs="+")
    about = "folder of the trainings, DIR/NAME/SEED, and their table"
    add(parser, "-s/--serialization-dir DIR", about, OutputPath, required=True)
    add_shared(parser, "--seeds")
    about = """changes of all configurations, such as '{"trainer.num_epochs": 5}'"""
    add(parser, "--overrides JSON", about, default="")
    about = (
        "such as --metric=+accuracy or --metric=-loss (default: the trainer's validation_metric)"
    )
    add(parser, "--metric METRIC", about)
    add_shared(parser, "--json", "--workers", "--dask")


def outputs(args: argparse.Namespace) -> list[Path | str]:
    return [Path(args.serialization_dir) / "table.md", *filter(None, [args.json])]


def resume_path(args: argparse.Namespace) -> Path:
    return Path(args.serialization_dir)


def run(args: argparse.Namespace) -> None:
    """
    Finds all mistakes before anything is trained. Raises `SystemExit` at the end if trainings
    failed.
    """
    from elmo_plugin.config_check import check, mistakes
    from elmo_plugin.sweeps import scores, trainings

    folder = Path(args.serialization_dir)
    planned = trainings.find_trainings(args.configs, folder, args.seeds, args.overrides)
    metric = scores.find_metric(planned, args.metric)
    for name, config in {training.name: training.config for training in planned}.items():
        check(mistakes(config), f"{name}: ")
    for training in planned:
        if training.folder.exists():
            metric.score(
                trainings.read_metrics(training.config, training.folder), f"{training.folder}: "
            )
    outcomes: Iterable[trainings.Outcome] = trainings.train_in_turn(planned)
    if (workers := args.workers or 1) > 1 or args.dask is not None:
        packages = getattr(args, "include_package", [])  # an option of `allennlp` alone
        outcomes = trainings.train_in_processes(planned, workers, args.dask or None, packages)
    found, failures = scores.judge(planned, outcomes, metric)
    table = scores.table(found, str(metric))
    show(f"\n{table}")
    with atomic_write(folder / "table.md") as temporary:
        temporary.write_text(table, encoding="utf-8")
    if args.json is not None:
        program = "allennlp" if sys.argv[1:2] == ["elmo-sweep"] else "elmo"
        write_json(args.json, scores.results(planned, found, shlex.join([program, *sys.argv[1:]])))
    if failures:
        raise SystemExit("\n".join(failures))
