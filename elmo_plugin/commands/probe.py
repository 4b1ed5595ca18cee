"""Probe each layer of a biLM with a linear classifier of tags. It prints the accuracies on other
data and on a control task with random tags for each word (Hewitt and Liang, 2019), and the
accuracies of guesses without vectors. Give --mix once for each model whose mix is also probed.

    elmo probe base train.txt test.txt
    elmo probe base train.txt test.txt --mix run/model.tar.gz --seeds 3,7 --json
"""

import argparse
import statistics
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import TextPath, add, add_shared, positive_int
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.analysis.probes import TaggedSentence

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    about = (
        "the training data: a word and its tag per line, blank lines between sentences, such "
        "as CoNLL-U"
    )
    add(parser, "train TRAIN", about, TextPath)
    add(parser, "test TEST", "the test data, in the same format", TextPath)
    about = "number of epochs of each training (default: 10, or more for at least 2,000 steps)"
    add(parser, "--epochs N", about, positive_int)
    add_shared(parser, "--mix", action="append", default=[])
    add_shared(
        parser, "--seeds", "--controls", "--json", "--device", "--precision", "--cache", "--trust"
    )


def read_tagged(path: str) -> "list[TaggedSentence]":
    """Reads the sentences of a file as `elmo import tag` does; their tags stay as they are."""
    from elmo_plugin.analysis.probes import TaggedSentence
    from elmo_plugin.importers import IMPORTERS, ImportOptions, Report

    examples = IMPORTERS["tag"].read(path, ImportOptions(), Report(path))
    return [TaggedSentence(list(each.words), list(each.tags)) for each in examples]


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.analysis.probes import guess_tags, probe_layers
    from elmo_plugin.analysis.representations import load_representations

    train, test = read_tagged(args.train), read_tagged(args.test)
    for path, sentences in ((args.train, train), (args.test, test)):
        if not sentences:
            raise BiLmError(f"{path}: no words in this file")
    if len({tag for sentence in train for tag in sentence.tags}) == 1:
        raise BiLmError(f"{args.train}: all words have the same tag")
    options = args.controls, args.precision, args.device, args.cache
    scores = [
        score
        for representations in load_representations(args.bilm, args.mix, args.trust, *options)
        for score in probe_layers(
            representations, train, test, seeds=args.seeds, epochs=args.epochs
        )
    ]
    without = guess_tags(train, test)
    width = max(len(score.name) for score in scores) + 2
    show(*(f"{name:{width}}{100 * accuracy:6.2f}" for name, accuracy in without.items()), sep="\n")
    show(f"{'':{width}}accuracy         control  selectivity")
    for name, accuracies, control in scores:
        means = [100 * statistics.mean(each) for each in (accuracies, control)]
        spread = f" ± {100 * statistics.stdev(accuracies):.2f}" if len(accuracies) > 1 else ""
        accuracy = f"{means[0]:6.2f}{spread}"
        show(f"{name:{width}}{accuracy:16} {means[1]:7.2f}  {means[0] - means[1]:11.2f}")
    layers = {
        each.name: {"accuracies": each.accuracies, "control": each.control} for each in scores
    }
    return {**without, "layers": layers}
