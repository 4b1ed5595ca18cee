"""List the biLMs, the word vectors and the trained models of this package. The name of a trained
model is an ARCHIVE of every command; --path has its archive for AllenNLP's commands: allennlp
predict "$(elmo models --path ner)" FILE --include-package elmo_plugin.plugin.

    elmo models
    elmo models --path ner
"""

import argparse
from typing import Any

from elmo_plugin.commands.options import add, add_shared
from elmo_plugin.common.bundled import BUNDLED, bundled_models
from elmo_plugin.common.streams import show, show_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = (
        "print only the path of this model: the archive of a trained model, or the folder of "
        "another"
    )
    add(parser, "--path NAME", about, choices=list(bundled_models()))
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    models = bundled_models()
    if args.path:
        show(models[args.path].file)
    else:
        rows = [("name", "", "score", "licence", "size")]
        for each in models.values():
            rows.append(
                (each.name, each.about, each.score, each.licence, f"{each.size / 1e6:.1f} MB")
            )
        show_table(rows)
        show(f"\nIn {BUNDLED}; the README.md beside each model is its card.")
    return [
        {**model._asdict(), "path": str(model.file), "bytes": model.size}
        for model in models.values()
    ]
