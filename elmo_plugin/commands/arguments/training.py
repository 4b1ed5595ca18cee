"""The arguments of the commands that train, and prepare trainings."""

import argparse
import json
from pathlib import Path
from typing import Any

from elmo_plugin.commands.command import Command
from elmo_plugin.commands.options import ConfigPath, InputPath, OutputPath, add_options

PROJECTS = Path(__file__).parents[2] / "projects"
"""A folder for each task: a configuration, small invented data, and inputs to predict from."""
PROJECT_TASKS: dict[str, dict[str, str]] = json.loads((PROJECTS / "tasks.json").read_text(encoding="utf-8"))
"""What the model of each task finds ("about"), an example for its README, and the format of its data."""


def _add_new(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "; ".join(f"{name}, {task['about']}" for name, task in PROJECT_TASKS.items())
    add("task", choices=PROJECT_TASKS, metavar="TASK", help=f"what the model finds: {about}")
    add("folder", type=Path, metavar="FOLDER", help="the folder to create; must not exist yet")
    about = (
        "your own data: a folder with files called train…, dev… (or valid…) and maybe test…, or these files "
        "in this order. They are read once, which needs AllenNLP, and stay where they are. For bilm any "
        "texts, which are copied and split"
    )
    add("--data", type=InputPath, nargs="+", default=[], metavar="PATH", help=about)
    about = """options of the dataset reader for --data, such as '{"text_column": "body"}'"""
    add("--reader", default="{}", metavar="JSON", help=about)
    add_options(parser, "--bilm")
    about = (
        "for bilm: split raw text into sentences and words by spaCy's rules for this language (default: one "
        "sentence per line, its words between spaces)"
    )
    add("--language", metavar="CODE", help=about)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "a configuration, as for `allennlp train`, or FILE:VARIANT; 'FILE:sst_*' for several"
    add("configs", type=ConfigPath, nargs="+", metavar="CONFIG", help=about)
    about = "folder of the trainings, DIR/NAME/SEED, and their table"
    add("-s", "--serialization-dir", type=OutputPath, required=True, metavar="DIR", help=about)
    add_options(parser, "--seeds")
    about = """changes of all configurations, such as '{"trainer.num_epochs": 5}'"""
    add("--overrides", default="", metavar="JSON", help=about)
    about = "such as --metric=+accuracy or --metric=-loss (default: the trainer's validation_metric)"
    add("--metric", metavar="METRIC", help=about)
    add_options(parser, "--json", "--plot", "--workers", "--dask")


def table_file(folder: str) -> Path:
    """Returns the file of the table of a sweep."""
    return Path(folder) / "table.md"


def _sweep_outputs(args: argparse.Namespace) -> list[Any]:
    return [table_file(args.serialization_dir), *filter(None, [args.json, args.plot])]


COMMANDS = (
    Command(
        "new",
        "Write a project that trains a model of a task with ELMo. It is a folder with a configuration, the "
        "library that it imports, your data or a little that is invented, and a README with the commands. "
        "The biLM is base, or that of --bilm.",
        "elmo new ner my_project\n"
        "elmo new classify my_project --data train.csv dev.csv\n"
        "elmo new tag my_project --bilm my_bilm/run/model.tar.gz\n"
        "elmo new bilm my_bilm --data text.txt",
        _add_new,
    ),
    Command(
        "sweep",
        "Train configurations with several seeds and compare them. Finished trainings in DIR are not "
        "repeated: a sweep that was stopped continues when you start it again, and you may add seeds and "
        "configurations. --json adds the scores to those that the file has. Several --workers need Dask, "
        "and share the cores.",
        "elmo sweep config.jsonnet -s runs --seeds 5\n"
        "elmo sweep baseline.jsonnet elmo.jsonnet -s runs --seeds 3,7 --json scores.json",
        _add_sweep,
        needs_allennlp=True,
        resume_path=lambda args: Path(args.serialization_dir),
        outputs=_sweep_outputs,
    ),
)
