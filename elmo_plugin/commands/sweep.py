"""Train configurations with several seeds and compare them. Finished trainings in DIR are not
repeated: start a stopped sweep again and it continues, also with more seeds or configurations.
--json writes all scores, and this command line. More than one of --workers needs Dask; they share
the cores.

    elmo sweep config.jsonnet -s runs --seeds 5
    elmo sweep baseline.jsonnet elmo.jsonnet -s runs --seeds 3,7 --json scores.json
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elmo_plugin.commands.options import InputPath, OutputPath, add_shared, cluster_address
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.streams import show, show_lines

if TYPE_CHECKING:
    from elmo_plugin.sweeps.scores import Metric
    from elmo_plugin.sweeps.trainings import Outcome, Training

NEEDS = "allennlp"


class ConfigPath(InputPath):
    """A configuration: `FILE`, or `FILE:VARIANT`."""

    kind = "configuration"

    def _is_found(self) -> bool:
        """Returns whether the part before the last colon is a file."""
        return os.path.isfile(self.rpartition(":")[0])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "configs",
        metavar="CONFIG",
        type=ConfigPath,
        nargs="+",
        help="a configuration, as for `allennlp train`, or FILE:VARIANT; 'FILE:sst_*' for several",
    )
    parser.add_argument(
        "-s",
        "--serialization-dir",
        metavar="DIR",
        type=OutputPath,
        required=True,
        help="folder for the trainings, DIR/NAME/SEED, and the table of their scores",
    )
    add_shared(parser, "--seeds")
    parser.add_argument(
        "--overrides",
        metavar="JSON",
        default="",
        help="""changes to all configurations, such as '{"trainer.num_epochs": 5}'""",
    )
    parser.add_argument(
        "--metric",
        metavar="METRIC",
        help="what to compare, such as --metric=+accuracy or --metric=-loss "
        "(default: the trainer's validation_metric)",
    )
    add_shared(parser, "--json", "--workers", "--dask")


def outputs(args: argparse.Namespace) -> list[Path | str]:
    """
    Returns the files to write. The folder of the trainings is left out, because outputs must not be
    folders, and a sweep that continues finds it there.
    """
    files: list[Path | str] = [Path(args.serialization_dir) / "table.md"]
    if args.json is not None:
        files.append(args.json)
    return files


def resume_path(args: argparse.Namespace) -> Path:
    """Returns the folder of the trainings; the finished ones are not repeated."""
    return Path(args.serialization_dir)


def run(args: argparse.Namespace) -> None:
    """
    Trains each configuration with each seed, and shows and writes a table of the scores. Mistakes
    are found before anything is trained. Raises `SystemExit` at the end if a training failed.
    """
    from elmo_plugin.sweeps import scores, trainings

    folder = Path(args.serialization_dir)
    planned = trainings.find_trainings(args.configs, folder, args.seeds, args.overrides)
    metric = scores.find_metric(planned, args.metric)
    _check_before_training(planned, metric)
    outcomes = _train(planned, args)
    scores_of_configs, failures = scores.collect_scores(planned, outcomes, metric)
    table = scores.markdown_table(scores_of_configs, metric=str(metric))
    show()
    show_lines(table)
    with atomic_write(folder / "table.md") as temporary:
        temporary.write_text(table, encoding="utf-8")
    if args.json is not None:
        write_json(args.json, scores.results_for_json(planned, scores_of_configs, _command_line()))
    if failures:
        raise SystemExit("\n".join(failures))


def _check_before_training(planned: "Sequence[Training]", metric: "Metric") -> None:
    """
    Raises `ConfigurationError` for a mistake in a configuration, and for a folder of an earlier
    training that cannot be used: it is unfinished, had another configuration, or lacks the metric.
    """
    from elmo_plugin.config_check import mistakes, raise_for_mistakes
    from elmo_plugin.sweeps.trainings import read_metrics

    # Seeds make no difference to mistakes, so one training of each configuration is checked.
    configs = {training.name: training.config for training in planned}
    for name, config in configs.items():
        raise_for_mistakes(mistakes(config), where=f"{name}: ")
    for training in planned:
        if training.folder.exists():
            # Called for their exceptions: the scores themselves are read after the trainings.
            metrics = read_metrics(training.config, training.folder)
            metric.score(metrics, prefix=f"{training.folder}: ")


def _train(planned: "Sequence[Training]", args: argparse.Namespace) -> "Iterable[Outcome]":
    """
    Returns the outcomes of trainings. If the options ask for several processes, all trainings have
    ended before this returns. Otherwise this process trains, and each training begins when its
    outcome is requested.
    """
    from elmo_plugin.sweeps.trainings import train_in_processes, train_in_turn

    workers = args.workers or 1
    if workers == 1 and args.dask is None:
        return train_in_turn(planned)
    return train_in_processes(
        planned,
        workers,
        scheduler=cluster_address(args.dask),
        packages=getattr(args, "include_package", []),  # an option that only `allennlp` has
    )


def _command_line() -> str:
    """Returns the command line that started this process, without the path of the program."""
    program = "elmo"
    if sys.argv[1:2] == ["elmo-sweep"]:  # it was `allennlp elmo-sweep …`
        program = "allennlp"
    return shlex.join([program, *sys.argv[1:]])
