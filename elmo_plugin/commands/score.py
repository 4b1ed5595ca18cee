"""Score the output of a system as the official scorer of its task does. coref: columns of
CoNLL-2012 or JSON lines, as the reference scorer (v8.01). squad: SQuAD 1.1's JSON, and an object
with the answer to each question, as the official script. srl: props, CoNLL-2012 or JSON lines, as
srl-eval.pl of CoNLL-2005. ner: one word per line, with the gold tag and the system's tag in the
last two columns, as conlleval.pl.

    elmo score squad dev.json answers.json
    elmo score ner tagged.txt --json scores.json
"""

import argparse
from importlib import import_module
from typing import Any, NamedTuple

from elmo_plugin.commands.options import TextPath, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"


class Scorer(NamedTuple):
    """The name of a task's function from files to figures, and the names of these files."""

    function: str
    files: str


SCORERS = {
    "coref": Scorer("score_coref", "KEY RESPONSE"),
    "squad": Scorer("score_squad", "DATA PREDICTIONS"),
    "srl": Scorer("score_srl", "GOLD SYSTEM"),
    "ner": Scorer("score_tagged", "TAGGED"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = "; ".join(f"{task} {scorer.files}" for task, scorer in SCORERS.items())
    parser.add_argument(
        "task", metavar="TASK", choices=SCORERS, help=f"the task and its files: {files}"
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        type=TextPath,
        nargs="+",
        help="the gold data and the output of the system, for ner in one file (plain, .gz or .zst)",
    )
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> dict[str, Any]:
    scorer = SCORERS[args.task]
    if len(args.files) != len(scorer.files.split()):
        raise BiLmError(f"{args.task}: expected {scorer.files}, got {len(args.files)} files")
    from elmo_plugin.tasks import figures_table

    task = import_module(f"elmo_plugin.tasks.{args.task}")
    figures: dict[str, Any] = getattr(task, scorer.function)(*args.files)
    for line in figures.get("raw") or figures_table(figures):
        show(line)
    return figures
