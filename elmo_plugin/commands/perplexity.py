"""`elmo perplexity`: measures how well a biLM predicts a text."""

import argparse
from typing import Any

from elmo_plugin.common.streams import show
from elmo_plugin.language_model import measure_perplexity


def run(args: argparse.Namespace) -> dict[str, Any]:
    options = args.batch_size, args.per_sentence, args.device, args.precision, args.cache
    figures = measure_perplexity(args.bilm, args.texts, args.state, args.block_words, *options)
    for name, figure in figures.items():
        layout = {float: ",.3f", int: ","}.get(type(figure), "")
        show(f"{name.replace('_', ' ')}: {figure:{layout}}")
    return figures
