"""Probe each layer of a biLM with a linear classifier of tags. It prints the accuracy on the test
data and on a control task, where each word has a random tag (Hewitt and Liang, 2019), and the
accuracy of guesses without vectors. --mix also probes the mix of a trained model; you may give it
repeatedly.

    elmo probe base train.txt test.txt
    elmo probe base train.txt test.txt --mix run/model.tar.gz --seeds 3,7 --json probe.json
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import (
    TextPath,
    add_shared,
    load_representations,
    positive_int,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.analysis.probes import ProbeScore, TaggedSentence

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    parser.add_argument(
        "train",
        metavar="TRAIN",
        type=TextPath,
        help="the training data: a word and its tag per line, with blank lines between sentences; "
        "or CoNLL-U",
    )
    parser.add_argument(
        "test", metavar="TEST", type=TextPath, help="the test data, in the same format"
    )
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=positive_int,
        help="number of epochs of each training (default: 10, or more for at least 2,000 steps)",
    )
    add_shared(parser, "--mix", action="append", default=[])
    add_shared(
        parser, "--seeds", "--controls", "--json", "--device", "--precision", "--cache", "--trust"
    )


def read_tagged(path: str) -> "list[TaggedSentence]":
    """
    Reads the tagged sentences of a file, of any form that `elmo import tag` reads. Raises
    `BiLmError` if there are none.
    """
    from elmo_plugin.analysis.probes import TaggedSentence
    from elmo_plugin.importers import IMPORTERS, ImportOptions, Report

    sentences = []
    for example in IMPORTERS["tag"].read(path, ImportOptions(), Report(path)):
        sentences.append(TaggedSentence(list(example.words), list(example.tags)))
    if not sentences:
        raise BiLmError(f"{path}: no words in this file")
    return sentences


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.analysis.probes import baseline_accuracies, probe_layers

    train = read_tagged(args.train)
    test = read_tagged(args.test)
    tags: set[str] = set()
    for sentence in train:
        tags.update(sentence.tags)
    if len(tags) == 1:
        raise BiLmError(f"{args.train}: all words have the same tag")
    scores: list[ProbeScore] = []
    for representations in load_representations(args):
        scores += probe_layers(representations, train, test, seeds=args.seeds, epochs=args.epochs)
    guesses = baseline_accuracies(train, test)
    _show_accuracies(guesses, scores)
    layers = {}
    for score in scores:
        layers[score.name] = {"accuracies": score.accuracies, "control": score.control_accuracies}
    return {**guesses, "layers": layers}


def _show_accuracies(guesses: Mapping[str, float], scores: Sequence["ProbeScore"]) -> None:
    """
    Prints the accuracies of guesses without vectors, and a row for each layer, all in percent. The
    selectivity is the accuracy less the accuracy on the control task.
    """
    width = max(len(score.name) for score in scores) + 2
    for name, accuracy_of_guesses in guesses.items():
        show(f"{name:{width}}{100 * accuracy_of_guesses:6.2f}")
    show(f"{'':{width}}{'accuracy':16} {'control':>7}  {'selectivity':>11}")
    for score in scores:
        mean = 100 * statistics.mean(score.accuracies)
        control = 100 * statistics.mean(score.control_accuracies)
        accuracy = f"{mean:6.2f}"
        if len(score.accuracies) > 1:
            accuracy += f" ± {100 * statistics.stdev(score.accuracies):.2f}"
        show(f"{score.name:{width}}{accuracy:16} {control:7.2f}  {mean - control:11.2f}")
