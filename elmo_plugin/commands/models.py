"""List the biLMs, the word vectors and the trained models of this package. Every command takes the
name of a trained model as its ARCHIVE. For AllenNLP's own commands, --path prints the path of its
archive: allennlp predict "$(elmo models --path ner)" FILE --include-package elmo_plugin.plugin.

    elmo models
    elmo models --path ner
"""

import argparse
from collections.abc import Iterable
from typing import Any

from elmo_plugin.commands.options import add_shared
from elmo_plugin.common.bundled import BUNDLED, BundledModel, bundled_models
from elmo_plugin.common.streams import show, show_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--path",
        metavar="NAME",
        choices=list(bundled_models()),
        help="print only the path of this model: a trained model's archive, or the folder of a "
        "biLM or of word vectors",
    )
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Prints one path or the list, and returns all models for `--json` in both cases."""
    models = bundled_models()
    if args.path:
        show(models[args.path].file)
    else:
        _show_models(models.values())
    content = []
    for model in models.values():
        content.append(model._asdict() | {"path": str(model.file), "bytes": model.size})
    return content


def _show_models(models: Iterable[BundledModel]) -> None:
    """Prints a table with a row for each model, and the folder of the models."""
    rows = [("name", "", "score", "licence", "size")]  # a sentence about a model needs no heading
    for model in models:
        size = f"{model.size / 1e6:.1f} MB"
        rows.append((model.name, model.about, model.score, model.licence, size))
    show_table(rows)
    show()
    show(f"In {BUNDLED}; the README.md beside each model is its card.")
