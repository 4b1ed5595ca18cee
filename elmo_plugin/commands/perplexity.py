"""`elmo perplexity`: measures how well a biLM predicts a text."""

import argparse
from typing import Any

from elmo_plugin.bilm import PRECISIONS
from elmo_plugin.commands.command import Command, OutputPath, add_json
from elmo_plugin.common.streams import show
from elmo_plugin.language_model import STATES, measure_perplexity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "model.tar.gz, or the directory, of a trained `bilm` model; or what elmo-export made of it. "
    about += "Models by name (tiny, base, …) have no softmax, and so no perplexity"
    add("archive", metavar="ARCHIVE", help=about)
    add("texts", nargs="+", metavar="TEXT", help="a file (plain, .gz or .zst), or a quoted pattern")
    add(
        "--state",
        choices=STATES,
        default=STATES[0],
        help="carry: sentence follows sentence in blocks, as in training; "
        "reset: each sentence is read separately, as in applications",
    )
    about = "for carry: a block is the fewest sentences that have at least N words (default: 1000)"
    add("--block-words", type=int, default=1000, metavar="N", help=about)
    add("--batch-size", type=int, default=128, metavar="N", help="blocks in parallel (default: 128)")
    about = "JSON lines with the scores of each sentence"
    add("--per-sentence", type=OutputPath, metavar="FILE", help=about)
    add_json(parser)
    add("--cuda-device", type=int, default=-1, metavar="N", help="number of a GPU (default: the CPU)")
    add("--precision", choices=PRECISIONS, default="float32", help="in which the biLM computes")
    add("--cache-directory", metavar="D", help="for tokenized text (default: $ELMO_PLUGIN_CACHE)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    figures = measure_perplexity(
        args.archive,
        args.texts,
        args.state,
        args.block_words,
        args.batch_size,
        args.per_sentence,
        args.cuda_device,
        args.precision,
        args.cache_directory,
    )
    for name, figure in figures.items():
        layout = {float: ",.3f", int: ","}.get(type(figure), "")
        show(f"{name.replace('_', ' ')}: {figure:{layout}}")
    return figures


COMMAND = Command(
    description="Score text, one tokenized sentence per line, with both language models of a biLM and their "
    "full softmax. The perplexity is over all words and the end of each sentence. Perplexities are "
    "comparable only over the same vocabulary; unknown words count as one word.",
    add_arguments=add_arguments,
    run=run,
)
