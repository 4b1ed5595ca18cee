"""`elmo senses`: measures how well a biLM's layers tell the senses of words."""

import argparse
from collections.abc import Sequence
from typing import Any

from elmo_plugin.analysis.nearest_sense import NearestSense, SenseScore, score_senses
from elmo_plugin.analysis.representations import load_representations
from elmo_plugin.analysis.sense_corpus import read_first_senses, read_senses, wordnet_first_senses
from elmo_plugin.bilm import BiLmError
from elmo_plugin.common.streams import show


def run(args: argparse.Namespace) -> dict[str, Any]:
    first_sense = read_first_senses(args.first_senses).get if args.first_senses else wordnet_first_senses()
    options = args.controls, args.precision, args.device, args.cache
    all_representations = load_representations(args.bilm, args.mix, args.trust, *options)
    scores: dict[str, list[SenseScore]] = {test: [] for test in args.tests}
    for representations in all_representations:
        model = NearestSense(representations, args.ties)
        if not model.fit(read_senses(args.train)):
            raise BiLmError(f"{args.train}: no word with a sense in this file")
        for test, test_scores in scores.items():
            first, *by_layer = score_senses(model, read_senses(test), first_sense)
            test_scores += by_layer if test_scores else [first, *by_layer]
    for test, test_scores in scores.items():
        if not test_scores[0].total:
            raise BiLmError(f"{test}: no word with a sense in this file")
        show(f"{test}: {test_scores[0].total:,} words\n{table(test_scores)}\n")
    return {test: {each.name: _figures(each) for each in test_scores} for test, test_scores in scores.items()}


def table(scores: Sequence[SenseScore]) -> str:
    """Returns a line for each score, its F1 in percent."""
    width = max(len(score.name) for score in scores)
    return "\n".join(f"{score.name:{width}}  {100 * score.f1:6.2f}" for score in scores)


def _figures(score: SenseScore) -> dict[str, float]:
    return {"f1": score.f1, "correct": score.correct, "answered": score.answered, "total": score.total}
