"""Score the output of a system as the official scorer of its task does. coref: columns of
CoNLL-2012 or JSON lines, as the reference scorer (v8.01). squad: SQuAD 1.1's JSON, and an object
with the answer to each question, as the official script. srl: props, CoNLL-2012 or JSON lines, as
srl-eval.pl of CoNLL-2005. ner: one word per line, with the gold tag and the system's tag in the
last two columns, as conlleval.pl.

    elmo score squad dev.json answers.json
    elmo score ner tagged.txt --json scores.json
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from elmo_plugin.commands.options import TextPath, add_shared
from elmo_plugin.commands.suggestions import task_name
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"
FILES = {
    "coref": ("KEY", "RESPONSE"),
    "squad": ("DATA", "PREDICTIONS"),
    "srl": ("GOLD", "SYSTEM"),
    "ner": ("TAGGED",),
}
"""The files that are scored for each task."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = "; ".join(f"{task} {' '.join(names)}" for task, names in FILES.items())
    parser.add_argument(
        "task",
        metavar="TASK",
        type=partial(task_name, tasks=tuple(FILES)),
        help=f"the task and its files: {files}",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        type=TextPath,
        nargs="+",
        help="the gold data and the output of the system, for ner in one file (plain, .gz or .zst)",
    )
    add_shared(parser, "--json")


def check_arguments(args: argparse.Namespace) -> None:
    """Raises `BiLmError` if there are more or fewer files than the task needs."""
    names = FILES[args.task]
    if len(args.files) != len(names):
        raise BiLmError(f"{args.task}: expected {' '.join(names)}, got {len(args.files)} files")


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.tasks import figures_table
    from elmo_plugin.tasks.ner import score_tagged

    scorers: dict[str, Callable[..., dict[str, Any]]] = {
        "coref": score_coref_files,
        "squad": score_squad_files,
        "srl": score_srl_files,
        "ner": score_tagged,
    }
    figures = scorers[args.task](*args.files)
    if args.task == "ner":
        lines = figures["raw"]  # as conlleval.pl prints them
    else:
        lines = figures_table(figures)
    for line in lines:
        show(line)
    return figures


def score_coref_files(key: str, response: str) -> dict[str, Any]:
    """Scores the clusters of a system (`response`) against the gold clusters (`key`)."""
    from elmo_plugin.importers import read_scored_coref
    from elmo_plugin.tasks.coref import score_coref

    keys = list(read_scored_coref(key))
    if not keys:
        raise BiLmError(f"{key}: no documents in this file")
    return score_coref(keys, read_scored_coref(response))


def score_squad_files(data: str, predictions: str) -> dict[str, Any]:
    """Scores the answers of a system to the questions of a data set."""
    from elmo_plugin.importers import read_scored_squad
    from elmo_plugin.tasks.squad import read_predictions, score_squad

    answers = read_predictions(predictions)
    paragraphs = list(read_scored_squad(data))
    if not paragraphs:
        raise BiLmError(f"{data}: no questions in this file")
    return score_squad(paragraphs, answers)


def score_srl_files(gold: str, system: str) -> dict[str, Any]:
    """Scores the propositions of a system against the gold propositions."""
    from elmo_plugin.importers import read_scored_srl
    from elmo_plugin.tasks.srl import score_srl

    sentences = list(read_scored_srl(gold))
    # If only one of the files is empty, `score_srl` names the first sentence that the other lacks.
    if not sentences and not any(read_scored_srl(system)):
        raise BiLmError(f"{gold}: no sentences in this file")
    return score_srl(sentences, read_scored_srl(system))
