"""Show what trained models and a biLM do, on a web page that this machine serves. Without either,
it shows the models of this package. Models of one task stand side by side in a tab; a biLM has its
own.

    elmo demo
    elmo demo runs/*/model.tar.gz --bilm base --port 0
"""

import argparse

from elmo_plugin.commands.options import add_shared, positive_int
from elmo_plugin.common.errors import BiLmError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="*")
    add_shared(parser, "--bilm", "--trust")
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to serve at; 127.0.0.1 is this machine alone (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=8000,
        help="port to serve at; 0 for any that is free (default: %(default)s)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--max-characters",
        metavar="N",
        type=positive_int,
        default=10_000,
        help="maximum length of a text (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    try:
        from elmo_plugin.demo.server import show_page
    except ModuleNotFoundError as error:
        raise BiLmError(f"this needs {error.name}: pip install 'elmo_plugin[demo]'") from None
    show_page(
        archives=args.archives,
        bilm=args.bilm,
        host=args.host,
        port=args.port,
        browse=args.open,
        max_characters=args.max_characters,
        trust=args.trust,
    )
