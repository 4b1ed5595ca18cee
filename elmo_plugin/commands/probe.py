"""`elmo probe`: probes each layer of a biLM with a linear classifier."""

import argparse
import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any

from elmo_plugin.analysis.probes import ProbeScore, probe_layers
from elmo_plugin.analysis.representations import controls, layer_representations
from elmo_plugin.analysis.tagged_words import TaggedSentence, guess_tags, read_tagged
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, add_json, add_trust, positive_int
from elmo_plugin.common.streams import show
from elmo_plugin.embedding.cache import SqliteCache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", metavar="BILM", help=BILM_HELP)
    about = "the training data: a word and its tag per line, blank lines between sentences (or .gz, .zst)"
    add("train", metavar="TRAIN", help=about)
    add("test", metavar="TEST", help="the test data, in the same format")
    add("--seeds", type=positive_int, default=3, metavar="N", help="train with the seeds 1 to N (default: 3)")
    add("--epochs", type=positive_int, default=10, metavar="N", help="of each training (default: 10)")
    add("--mix", metavar="ARCHIVE", nargs="+", default=[], help="also probe the mixes of these models")
    about = "also probe a random biLM of the same sizes, and the counts of a word's characters"
    add("--controls", action="store_true", help=about)
    about = "store the biLM's vectors here for the next call (see docs/faster.md)"
    add("--cache", metavar="DIR", help=about)
    add_json(parser)
    add_trust(parser)


def run(args: argparse.Namespace) -> dict[str, Any]:
    train, test = _read(args.train), _read(args.test)
    if len({tag for sentence in train for tag in sentence.tags}) == 1:
        raise BiLmError(f"{args.train}: all words have the same tag")
    bilm = BiLm.from_pretrained(args.bilm)
    layers = layer_representations(bilm, args.mix, args.trust)
    if args.cache:
        layers = layers._replace(embed=partial(bilm.embed, cache=SqliteCache(args.cache)))
    scores = [
        score
        for representations in (layers, *(controls(bilm, layers) if args.controls else []))
        for score in probe_layers(
            representations, train, test, seeds=range(1, args.seeds + 1), epochs=args.epochs
        )
    ]
    without = guess_tags(train, test)
    show(table(without, scores))
    accuracies = {each.name: {"accuracies": each.accuracies, "control": each.control} for each in scores}
    return {**without, "layers": accuracies}


def _read(path: str) -> list[TaggedSentence]:
    sentences = list(read_tagged(path))
    if not sentences:
        raise BiLmError(f"{path}: no words in this file")
    return sentences


def table(without: dict[str, float], scores: Sequence[ProbeScore]) -> str:
    """Returns lines with accuracies in percent, and their spread over seeds."""
    width = max(len(score.name) for score in scores) + 2
    lines = [f"{name:{width}}{100 * accuracy:6.2f}" for name, accuracy in without.items()]
    lines.append(f"{'':{width}}accuracy         control  selectivity")
    for score in scores:
        mean = f"{100 * statistics.mean(score.accuracies):6.2f}"
        spread = f" ± {100 * statistics.stdev(score.accuracies):.2f}" if len(score.accuracies) > 1 else ""
        control = 100 * statistics.mean(score.control)
        lines.append(
            f"{score.name:{width}}{mean + spread:16} {control:7.2f}  {100 * score.selectivity:11.2f}"
        )
    return "\n".join(lines)


COMMAND = Command(
    description="Train a linear classifier of tags on the frozen vectors of each layer of a biLM and on "
    "their mean. Prints its accuracies on other data and on a control task with random tags for each word "
    "(Hewitt and Liang, 2019), and the accuracies of guesses without vectors.",
    add_arguments=add_arguments,
    run=run,
)
