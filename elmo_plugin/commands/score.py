"""Score the output of a system like the official scorer of its task. coref: columns of CoNLL-2012
or JSON lines, like the reference scorer (v8.01). squad: SQuAD 1.1's JSON, and an object with the
answer to each question, like the official script. srl: props, CoNLL-2012 or JSON lines, like
srl-eval.pl of CoNLL-2005. ner: one word per line, its gold tag and the system's in the last two
columns, like conlleval.pl.

    elmo score squad dev.json answers.json
    elmo score ner tagged.txt --json scores.json
"""

import argparse
from importlib import import_module
from typing import Any

from elmo_plugin.commands.options import TextPath, add, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"
SCORERS = {
    "coref": ("score_coref", "KEY RESPONSE"),
    "squad": ("score_squad", "DATA PREDICTIONS"),
    "srl": ("score_srl", "GOLD SYSTEM"),
    "ner": ("score_tagged", "TAGGED"),
}
"""A function of each task, from these files to figures."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = "; ".join(f"{task} {names}" for task, (_, names) in SCORERS.items())
    add(parser, "task TASK", f"and its files: {about}", choices=SCORERS)
    about = "the gold data and the output of the system, for ner in one file (plain, .gz or .zst)"
    add(parser, "files FILE", about, TextPath, nargs="+")
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> dict[str, Any]:
    scorer, names = SCORERS[args.task]
    if len(args.files) != len(names.split()):
        raise BiLmError(f"{args.task}: expected {names}, got {len(args.files)} files")
    from elmo_plugin.tasks import figures_table

    figures: dict[str, Any] = getattr(import_module(f"elmo_plugin.tasks.{args.task}"), scorer)(
        *args.files
    )
    show("\n".join(figures.get("raw") or figures_table(figures)))
    return figures
