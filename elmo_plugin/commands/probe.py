"""`elmo probe`: probes each layer of a biLM with a linear classifier."""

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

from elmo_plugin.analysis.probes import ProbeScore, TaggedSentence, guess_tags, probe_layers, read_tagged
from elmo_plugin.analysis.representations import load_representations
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> dict[str, Any]:
    train, test = _read(args.train), _read(args.test)
    if len({tag for sentence in train for tag in sentence.tags}) == 1:
        raise BiLmError(f"{args.train}: all words have the same tag")
    options = args.controls, args.precision, args.device, args.cache
    all_representations = load_representations(args.bilm, args.mix, args.trust, *options)
    scores = [
        score
        for representations in all_representations
        for score in probe_layers(representations, train, test, seeds=args.seeds, epochs=args.epochs)
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
