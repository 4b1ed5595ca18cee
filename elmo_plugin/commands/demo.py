"""`elmo demo`, `allennlp elmo-demo`: a local page that shows what trained models and a biLM do."""

import argparse

from elmo_plugin.commands.command import BILM_HELP, Command, OutputPath, positive_int
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo import MAX_CHARACTERS, MAX_WORDS, Limits, show_page, write_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the models to show, and where to serve or write them."""
    add = parser.add_argument
    about = "model.tar.gz, or the directory, of a trained model; those of one task stand side by side"
    add("archives", metavar="ARCHIVE", nargs="*", help=about)
    add("--bilm", metavar="BILM", help=f"{BILM_HELP}: shown in a tab of its own")
    add("--host", default="127.0.0.1", help="the address to serve at (default: 127.0.0.1, this machine)")
    add("--port", type=int, default=8000, metavar="N", help="0 for any that is free (default: 8000)")
    add("--open", action="store_true", help="open the page in a browser")
    about = f"the most characters of a text (default: {MAX_CHARACTERS})"
    add("--max-characters", type=positive_int, default=MAX_CHARACTERS, metavar="N", help=about)
    about = f"the most words of a text (default: {MAX_WORDS})"
    add("--max-words", type=positive_int, default=MAX_WORDS, metavar="N", help=about)
    about = "write a report of the predictions for --input, and serve nothing"
    add("--export", type=OutputPath, metavar="FILE", help=about)
    about = "of --export: a JSON object, or a text, a line (plain, .gz or .zst)"
    add("--input", metavar="FILE", help=about)


def run(args: argparse.Namespace) -> None:
    """Serves the page, or writes the report."""
    if bool(args.export) != bool(args.input):
        raise BiLmError("--export FILE and --input FILE go together")
    limits = Limits(args.max_characters, args.max_words)
    if args.export:
        write_report(args.archives, args.input, args.export, limits)
        return
    show_page(
        args.archives,
        args.bilm,
        host=args.host,
        port=args.port,
        opens_browser=args.open,
        limits=limits,
    )


COMMAND = Command(
    description="Serve a page on this machine that shows what trained models predict, a tab for each task, "
    "and what a biLM makes of words. Or write a report of predictions that needs no server.",
    add_arguments=add_arguments,
    run=run,
)
