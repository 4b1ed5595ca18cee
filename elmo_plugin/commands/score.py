"""`elmo score`: scores the output of any system as the official scorer of its task does."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from elmo_plugin.commands.command import Command, add_json
from elmo_plugin.tasks.coref import score_coref
from elmo_plugin.tasks.ner import score_tagged
from elmo_plugin.tasks.squad import score_squad
from elmo_plugin.tasks.srl import score_props


class Scorer(NamedTuple):
    """
    score: from the files to the lines to be printed and the figures for `--json`
    about: for `--help`
    files: the names of the files, and what `--help` says about them
    """

    score: Callable[..., tuple[list[str], dict[str, Any]]]
    about: str
    files: dict[str, str]


SCORERS = {
    "coref": Scorer(
        score_coref,
        "Clusters of mentions, as the reference scorer of CoNLL-2012 (v8.01) scores them.",
        {
            "KEY": "the right clusters, in CoNLL-2012's format (plain, .gz or .zst)",
            "RESPONSE": "those of a system, for the same documents",
        },
    ),
    "squad": Scorer(
        score_squad,
        "Answers, as the official script of SQuAD 1.1 scores them.",
        {
            "DATA": "the questions with the right answers, in SQuAD 1.1's JSON (plain, .gz or .zst)",
            "PREDICTIONS": 'a JSON object with the answer to each question, {"id": "answer"}',
        },
    ),
    "srl": Scorer(
        score_props,
        "Propositions, as the CoNLL-2005 shared task's srl-eval.pl scores them.",
        {
            "GOLD": "the right propositions, in CoNLL-2005's props format (plain, .gz or .zst)",
            "SYSTEM": "those of a system, for the same sentences",
        },
    ),
    "ner": Scorer(
        score_tagged,
        "Named entities or chunks, as conlleval.pl scores them.",
        {"TAGGED": "a word a line, the gold tag and the system's tag in the last two columns"},
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tasks = parser.add_subparsers(title="Tasks", metavar="TASK", dest="task", required=True)
    for task, scorer in SCORERS.items():
        of_task = tasks.add_parser(task, description=scorer.about, help=scorer.about)
        for name, about in scorer.files.items():
            of_task.add_argument(name.lower(), metavar=name, help=about)
        add_json(of_task)


def run(args: argparse.Namespace) -> dict[str, Any]:
    scorer = SCORERS[args.task]
    lines, figures = scorer.score(*(getattr(args, name.lower()) for name in scorer.files))
    print("\n".join(lines))
    return figures


COMMAND = Command(
    description="Score the output of a system as the official scorer of its task does, without it.",
    add_arguments=add_arguments,
    run=run,
)
