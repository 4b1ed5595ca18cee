"""Measure how well a biLM predicts a text. Both language models score each word, and the end of
each sentence, by their full softmax; names such as base have none. Perplexities are comparable only
over the same vocabulary; unknown words count as one word. Padding is no word, and has no
probability.

    elmo perplexity run/model.tar.gz test.txt
    elmo perplexity run/model.tar.gz 'test/*.txt' --per-sentence scores.jsonl
"""

import argparse
from typing import Any

from elmo_plugin.commands.options import OutputPath, TextPattern, add, add_shared, positive_int
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    about = "one sentence per line (plain, .gz or .zst), or a quoted pattern"
    add(parser, "texts TEXT", about, TextPattern, nargs="+")
    about = (
        "carry: sentence follows sentence in blocks, as in training; reset: each sentence is read "
        "separately, as in applications"
    )
    add(parser, "--state", about, choices=("carry", "reset"), default="carry")
    about = "for carry: a block is the fewest sentences with at least N words"
    add(parser, "--block-words N", about, positive_int, default=1000)
    add(
        parser,
        "--per-sentence FILE",
        "write JSON lines with the scores of each sentence",
        OutputPath,
    )
    add_shared(parser, "--json", "--device", "--precision", "--cache")
    add_shared(parser, "--batch-size", default=128)


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.language_model import measure_perplexity

    options = args.batch_size, args.per_sentence, args.device, args.precision, args.cache
    figures = measure_perplexity(args.bilm, args.texts, args.state, args.block_words, *options)
    for name, figure in figures.items():
        layout = {float: ",.3f", int: ","}.get(type(figure), "")
        show(f"{name.replace('_', ' ')}: {figure:{layout}}")
    return figures
