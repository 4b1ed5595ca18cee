"""`allennlp elmo-score`: the figures of a task's official scorer, for the output of any system."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from overrides import overrides

from elmo_plugin.common.files import write_json
from elmo_plugin.tasks.coref import score_coref
from elmo_plugin.tasks.ner import score_tagged
from elmo_plugin.tasks.squad import score_squad
from elmo_plugin.tasks.srl.srl_eval import score_props


class Scorer(NamedTuple):
    """
    score: takes the files, and returns the lines to be printed and the figures for `--json`
    about: what it does, for `--help`
    files: the names of the files that it takes, and what they are
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


@Subcommand.register("elmo-score")
class ElmoScore(Subcommand):
    """Prints the table of an official scorer, and writes its figures."""

    @overrides
    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description="Score the output of a system as the official scorer of its task does, without it.",
            help="Score the output of a system as a task's official scorer does.",
        )
        tasks = subparser.add_subparsers(title="Tasks", metavar="TASK", dest="task", required=True)
        for task, scorer in SCORERS.items():
            of_task = tasks.add_parser(task, description=scorer.about, help=scorer.about)
            for name, about in scorer.files.items():
                of_task.add_argument(name.lower(), metavar=name, help=about)
            of_task.add_argument("--json", metavar="FILE", help="gets the figures")
        subparser.set_defaults(func=_command)
        return subparser


def _command(args: argparse.Namespace) -> None:
    if args.json and Path(args.json).is_dir():
        raise ConfigurationError(f"{args.json} is a directory; name a file to be written")
    scorer = SCORERS[args.task]
    try:
        lines, figures = scorer.score(*(getattr(args, name.lower()) for name in scorer.files))
    except OSError as error:
        raise ConfigurationError(f"elmo-score {args.task}: {error}") from None
    print("\n".join(lines))
    if args.json:
        write_json(args.json, figures)
