"""`elmo score`: scores the output of any system like the official scorer of its task."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from elmo_plugin.commands.command import Command, add_json
from elmo_plugin.common.streams import show
from elmo_plugin.tasks.coref import score_coref
from elmo_plugin.tasks.ner import score_tagged
from elmo_plugin.tasks.squad import score_squad
from elmo_plugin.tasks.srl import score_srl


class Scorer(NamedTuple):
    """A function from files to lines to print and figures for `--json`, and the texts of `--help`."""

    score: Callable[..., tuple[list[str], dict[str, Any]]]
    about: str
    files: dict[str, str]  # by their names


SCORERS = {
    "coref": Scorer(
        score_coref,
        "Clusters of mentions, scored like the reference scorer of CoNLL-2012 (v8.01).",
        {
            "KEY": "the gold clusters, in columns with coreference last, or JSON lines (plain, .gz or .zst)",
            "RESPONSE": "the clusters of a system, for the same documents",
        },
    ),
    "squad": Scorer(
        score_squad,
        "Answers, scored like the official script of SQuAD 1.1.",
        {
            "DATA": "the questions with their answers, in SQuAD 1.1's JSON (plain, .gz or .zst)",
            "PREDICTIONS": 'a JSON object with the answer to each question, {"id": "answer"}',
        },
    ),
    "srl": Scorer(
        score_srl,
        "Propositions, scored like the CoNLL-2005 shared task's srl-eval.pl.",
        {
            "GOLD": "the gold propositions: props, CoNLL-2012 or JSON lines (plain, .gz or .zst)",
            "SYSTEM": "the propositions of a system, for the same sentences",
        },
    ),
    "ner": Scorer(
        score_tagged,
        "Named entities or chunks, scored like conlleval.pl.",
        {"TAGGED": "one word per line, the gold tag and the system's tag in the last two columns"},
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tasks = parser.add_subparsers(title="Tasks", metavar="TASK", dest="task", required=True)
    for task, scorer in SCORERS.items():
        task_parser = tasks.add_parser(task, description=scorer.about, help=scorer.about)
        for name, about in scorer.files.items():
            task_parser.add_argument(name.lower(), metavar=name, help=about)
        add_json(task_parser)


def run(args: argparse.Namespace) -> dict[str, Any]:
    scorer = SCORERS[args.task]
    lines, figures = scorer.score(*(getattr(args, name.lower()) for name in scorer.files))
    show("\n".join(lines))
    return figures


COMMAND = Command(
    description="Score the output of a system like the official scorer of its task, without it.",
    add_arguments=add_arguments,
    run=run,
)
