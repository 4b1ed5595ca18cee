"""Measure how well a biLM's layers tell the senses of words. Each word gets the sense of its lemma
with the nearest mean vector over a training corpus, or its first sense if the lemma is not there.
Prints the F1 of each layer, of their mean, and of the first sense of all words.

    elmo senses base train.jsonl test.jsonl --first-senses senses.txt
    elmo senses base train.data.xml test.data.xml --controls --json scores.json
"""

import argparse
from typing import Any

from elmo_plugin.commands.options import InputPath, TextPath, add, add_shared
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    about = (
        "the training corpus, with senses: JSON lines (or .gz, .zst), or .data.xml with its "
        ".gold.key.txt"
    )
    add(parser, "train TRAIN", about, TextPath)
    add(parser, "tests TEST", "corpora that are scored, in the same formats", TextPath, nargs="+")
    about = (
        "one sense per line: lemma, part of speech, rank and key, with tabs (default: nltk's "
        "WordNet)"
    )
    add(parser, "--first-senses FILE", about, InputPath)
    add_shared(parser, "--mix", action="append", default=[])
    add_shared(parser, "--controls", "--json", "--device", "--precision", "--cache", "--trust")


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.analysis.nearest_sense import NearestSense, score_senses
    from elmo_plugin.analysis.representations import load_representations
    from elmo_plugin.analysis.sense_corpus import (
        read_first_senses,
        read_senses,
        wordnet_first_senses,
    )

    first_sense = (
        read_first_senses(args.first_senses).get if args.first_senses else wordnet_first_senses()
    )
    options = args.controls, args.precision, args.device, args.cache
    scores: dict[str, list[Any]] = {test: [] for test in args.tests}
    for representations in load_representations(args.bilm, args.mix, args.trust, *options):
        model = NearestSense(representations)
        if not model.fit(read_senses(args.train)):
            raise BiLmError(f"{args.train}: no word with a sense in this file")
        for test, test_scores in scores.items():
            first, *by_layer = score_senses(model, read_senses(test), first_sense)
            test_scores += by_layer if test_scores else [first, *by_layer]
    for test, test_scores in scores.items():
        if not test_scores[0].total:
            raise BiLmError(f"{test}: no word with a sense in this file")
        show(f"{test}: {test_scores[0].total:,} words")
        width = max(len(score.name) for score in test_scores)
        show(*(f"{each.name:{width}}  {100 * each.f1:6.2f}" for each in test_scores), "", sep="\n")
    return {
        test: {
            name: {"f1": each.f1, "correct": correct, "answered": answered, "total": total}
            for each in test_scores
            for name, correct, answered, total in [each]
        }
        for test, test_scores in scores.items()
    }
