"""`elmo demo`: a local page that shows what trained models and a biLM do."""

import argparse

from elmo_plugin.commands.command import BILM_HELP, Command, add_trust, positive_int
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.tasks import MAX_CHARACTERS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "model.tar.gz, or the directory, of a trained model; models of one task are side by side"
    add("archives", metavar="ARCHIVE", nargs="*", help=about)
    add("--bilm", metavar="BILM", help=f"{BILM_HELP}: shown in a separate tab")
    add("--host", default="127.0.0.1", help="the address to serve at (default: 127.0.0.1, this machine)")
    add("--port", type=int, default=8000, metavar="N", help="0 for any that is free (default: 8000)")
    add("--open", action="store_true", help="open the page in a browser")
    about = f"the maximum length of a text (default: {MAX_CHARACTERS})"
    add("--max-characters", type=positive_int, default=MAX_CHARACTERS, metavar="N", help=about)
    add_trust(parser)


def run(args: argparse.Namespace) -> None:
    try:
        from elmo_plugin.demo.server import show_page
    except ModuleNotFoundError as error:
        raise BiLmError(f"this needs {error.name}: pip install 'elmo_plugin[demo]'") from None
    show_page(args.archives, args.bilm, args.host, args.port, args.open, args.max_characters, args.trust)


COMMAND = Command(
    description="Serve a page on this machine with the predictions of trained models, in a tab for each "
    "task, and the words of a biLM.",
    add_arguments=add_arguments,
    run=run,
)
