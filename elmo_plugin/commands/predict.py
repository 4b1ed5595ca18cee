"""`elmo predict`, `allennlp elmo-predict`: shows predictions in a terminal."""

import argparse

from elmo_plugin.commands.command import Command
from elmo_plugin.demo import show_predictions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the archive, the texts and the options."""
    add = parser.add_argument
    add("archive", metavar="ARCHIVE", help="model.tar.gz, or the directory, of a trained model")
    about = (
        "what the task reads, in its order: a sentence or a document; a passage and a question; a premise "
        "and a hypothesis; or a JSON object. - reads the standard input, a text or a JSON object a line"
    )
    add("texts", metavar="TEXT", nargs="+", help=about)
    about = "the archive of the tagger that finds the predicates of sentences, for semantic roles"
    add("--predicates", metavar="ARCHIVE", help=about)
    add("--json", action="store_true", help="print what allennlp predict writes")


def run(args: argparse.Namespace) -> None:
    """Prints a prediction for each input."""
    show_predictions(args.archive, args.texts, predicates=args.predicates, as_json=args.json)


COMMAND = Command(
    description="Show what a trained model predicts for a text: in colour, or plain if there is no "
    "terminal. The task is found from the archive.",
    add_arguments=add_arguments,
    run=run,
)
