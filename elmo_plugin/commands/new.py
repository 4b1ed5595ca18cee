"""`elmo new`: writes a project that trains a model of a task with ELMo."""

import argparse
import shutil
from pathlib import Path
from typing import NamedTuple

from elmo_plugin import __version__
from elmo_plugin.commands.command import Command
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import atomic_write
from elmo_plugin.common.streams import show

LIBRARY = Path(__file__).parents[1] / "jsonnet"
PROJECTS = Path(__file__).parents[1] / "projects"
"""A folder for each task: a configuration, small invented data, and inputs to predict from."""
PLUGINS = "elmo_plugin.plugin\nelmo_plugin.hardening\n"
README = """# {title} with ELMo

Install AllenNLP ("With AllenNLP" in elmo_plugin's docs/install.md). It finds elmo_plugin through the file
`.allennlp_plugins`, so run these lines in this folder:

    allennlp train config.jsonnet -s run
    allennlp evaluate run/model.tar.gz data/{dev}
    allennlp predict run/model.tar.gz inputs.jsonl

The first trains the model of `config.jsonnet` and writes it to `run/model.tar.gz`; `-f` trains it again. The
last prints a line of JSON for each line of `inputs.jsonl`.

The files in `data` are a few invented sentences, from which a model learns nothing of use. Put your own in
their place: {format}.

`lib` is a copy of the Jsonnet library of elmo_plugin {version}, so that an update of the package changes no
result. The heads of its files explain every option.
"""


class ProjectTask(NamedTuple):
    """The README of a task's project: its title, the dev file, and the format of its data."""

    title: str
    dev: str
    format: str


CONLL2012 = "the columns of CoNLL-2012, as train.gold_conll and dev.gold_conll"
PROJECT_TASKS = {
    "ner": ProjectTask(
        "Named entities",
        "dev.txt",
        "the four columns of CoNLL-2003 (a word first, its tag in BIO last), as train.txt and dev.txt",
    ),
    "srl": ProjectTask("Semantic roles", "dev.gold_conll", CONLL2012),
    "coref": ProjectTask("Coreference", "dev.gold_conll", CONLL2012),
    "squad": ProjectTask("Question answering", "dev.json", "SQuAD 1.1's JSON, as train.json and dev.json"),
    "snli": ProjectTask("Inference", "dev.jsonl", "SNLI's JSON lines, as train.jsonl and dev.jsonl"),
    "sst": ProjectTask(
        "Sentiment",
        "dev.txt",
        "one tree per line, as in the Stanford Sentiment Treebank, as train.txt and dev.txt",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the task and the folder."""
    parser.add_argument("task", choices=PROJECT_TASKS, help="the task of the model")
    about = "the folder to create; must not exist yet"
    parser.add_argument("folder", type=Path, metavar="FOLDER", help=about)


def new_project(task: str, folder: Path) -> None:
    """
    Writes a project: `config.jsonnet`, `lib`, `.allennlp_plugins`, `README.md`, `data`, `inputs.jsonl`.

    # Parameters

    task : `str`
        One of `PROJECT_TASKS`.
    folder : `Path`
        Is made.

    Raises `BiLmError` if the folder already exists, and `OSError` if it cannot be written.
    """
    if folder.exists():
        raise BiLmError(f"{folder} already exists; name a new folder")
    with atomic_write(folder) as temporary:
        shutil.copytree(PROJECTS / task, temporary)
        shutil.copytree(LIBRARY, temporary / "lib")
        (temporary / ".allennlp_plugins").write_text(PLUGINS, encoding="utf-8")
        readme = README.format(**PROJECT_TASKS[task]._asdict(), version=__version__)
        (temporary / "README.md").write_text(readme, encoding="utf-8")


def run(args: argparse.Namespace) -> None:
    """Writes the project and prints what to do next."""
    new_project(args.task, args.folder)
    show(f"wrote {args.folder}; its README.md says how to train, evaluate and predict:\n")
    show(f"    cd {args.folder} && allennlp train config.jsonnet -s run")


COMMAND = Command(
    description="Write a project that trains a model with ELMo with AllenNLP: a configuration, the library "
    "that it imports, a little invented data, and a README with the commands.",
    add_arguments=add_arguments,
    run=run,
)
