"""Measure how well a biLM predicts a text. Both language models score each word, and the end of
each sentence, by their full softmax, so the biLM needs one; names such as base have none. Compare
perplexities only over the same vocabulary; all unknown words count as one word. Padding is not a
word, and gets no probability.

    elmo perplexity run/model.tar.gz test.txt
    elmo perplexity run/model.tar.gz 'test/*.txt' --per-sentence scores.jsonl
"""

import argparse
from typing import Any

from elmo_plugin.commands.options import OutputPath, TextPattern, add_shared, positive_int
from elmo_plugin.common.streams import show

NEEDS = "torch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    parser.add_argument(
        "texts",
        metavar="TEXT",
        type=TextPattern,
        nargs="+",
        help="one sentence per line (plain, .gz or .zst), or a quoted pattern of files",
    )
    parser.add_argument(
        "--state",
        choices=("carry", "reset"),
        default="carry",
        help="carry: sentence follows sentence in blocks, as in training; reset: each sentence is "
        "read separately, as in applications (default: %(default)s)",
    )
    parser.add_argument(
        "--block-words",
        metavar="N",
        type=positive_int,
        default=1000,
        help="for carry: a block ends with the sentence that brings it to N words (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--per-sentence",
        metavar="FILE",
        type=OutputPath,
        help="write JSON lines with the scores of each sentence",
    )
    add_shared(parser, "--json", "--device", "--precision", "--cache")
    add_shared(parser, "--batch-size", default=128)


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.language_model import measure_perplexity

    figures = measure_perplexity(
        args.bilm,
        args.texts,
        state=args.state,
        block_words=args.block_words,
        batch_size=args.batch_size,
        per_sentence=args.per_sentence,
        device=args.device,
        precision=args.precision,
        cache_directory=args.cache,
    )
    for name, figure in figures.items():
        title = name.replace("_", " ")
        if isinstance(figure, float):
            show(f"{title}: {figure:,.3f}")
        elif isinstance(figure, int):
            show(f"{title}: {figure:,}")
        else:
            show(f"{title}: {figure}")
    return figures
