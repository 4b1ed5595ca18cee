"""Show what trained models and a biLM do, on a page of this machine; without either, everything in
this package. Models of one task are side by side in its tab; a biLM has its own.

    elmo demo
    elmo demo runs/*/model.tar.gz --bilm base --port 0
"""

import argparse

from elmo_plugin.commands.options import add, add_shared, positive_int
from elmo_plugin.common.errors import BiLmError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "archives", nargs="*")
    add_shared(parser, "--bilm", "--trust")
    add(
        parser,
        "--host ADDRESS",
        "address to serve at; 127.0.0.1 is this machine",
        default="127.0.0.1",
    )
    add(parser, "--port N", "port to serve at; 0 for any that is free", int, default=8000)
    add(parser, "--open", "open the page in a browser")
    add(parser, "--max-characters N", "maximum length of a text", positive_int, default=10_000)


def run(args: argparse.Namespace) -> None:
    try:
        from elmo_plugin.demo.server import show_page
    except ModuleNotFoundError as error:
        raise BiLmError(f"this needs {error.name}: pip install 'elmo_plugin[demo]'") from None
    show_page(
        args.archives, args.bilm, args.host, args.port, args.open, args.max_characters, args.trust
    )
