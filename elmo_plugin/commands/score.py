"""`elmo score`: scores the output of any system like the official scorer of its task."""

import argparse
from collections.abc import Callable
from typing import Any

from elmo_plugin.bilm import BiLmError
from elmo_plugin.commands.arguments.tasks import SCORED
from elmo_plugin.common.streams import show
from elmo_plugin.tasks import figures_table
from elmo_plugin.tasks.coref import score_coref
from elmo_plugin.tasks.ner import score_tagged
from elmo_plugin.tasks.squad import score_squad
from elmo_plugin.tasks.srl import score_srl

SCORERS: dict[str, Callable[..., dict[str, Any]]] = {
    "coref": score_coref,
    "squad": score_squad,
    "srl": score_srl,
    "ner": score_tagged,
}
"""Functions from files to figures."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    names = SCORED[args.task]
    if len(args.files) != len(names):
        raise BiLmError(f"{args.task}: expected {' '.join(names)}, got {len(args.files)} files")
    figures = SCORERS[args.task](*args.files)
    show("\n".join(figures.get("raw") or figures_table(figures)))
    return figures
