"""`elmo demo`: a local page that shows what trained models and a biLM do."""

import argparse

from elmo_plugin.common.errors import BiLmError


def run(args: argparse.Namespace) -> None:
    try:
        from elmo_plugin.demo.server import show_page
    except ModuleNotFoundError as error:
        raise BiLmError(f"this needs {error.name}: pip install 'elmo_plugin[demo]'") from None
    show_page(args.archives, args.bilm, args.host, args.port, args.open, args.max_characters, args.trust)
