"""`elmo models`: lists the models that come with this package."""

import argparse
from typing import Any

from elmo_plugin.commands.command import Command, add_json
from elmo_plugin.common.bundled import BUNDLED, bundled_models
from elmo_plugin.common.streams import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = "print only the path of this model: the archive of a trained model, or the folder of another"
    parser.add_argument("--path", metavar="NAME", choices=list(bundled_models()), help=about)
    add_json(parser)


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    models = bundled_models()
    if args.path:
        show(models[args.path].file)
    else:
        show(table())
        show(f"\nIn {BUNDLED}; the README.md beside each model is its card.")
    return [{**model._asdict(), "path": str(model.file), "bytes": model.size} for model in models.values()]


def table() -> str:
    """Returns a header, and a line for each model."""
    rows = [("name", "", "score", "licence", "size")]
    for model in bundled_models().values():
        rows.append((model.name, model.about, model.score, model.licence, f"{model.size / 1e6:.1f} MB"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


COMMAND = Command(
    description="List the biLMs, the word vectors and the trained models of this package. A trained model's "
    'name is an ARCHIVE of every command: elmo predict ner "TEXT"; its path is one of AllenNLP\'s: '
    'allennlp predict "$(elmo models --path ner)" FILE --include-package elmo_plugin.plugin.',
    add_arguments=add_arguments,
    run=run,
)
