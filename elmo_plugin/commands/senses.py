"""`elmo senses`: measures how well a biLM's layers tell the senses of words."""

import argparse
from collections.abc import Sequence
from typing import Any

from elmo_plugin.analysis.first_senses import read_first_senses, wordnet_first_senses
from elmo_plugin.analysis.nearest_sense import TIES, NearestSense, SenseScore, score_senses
from elmo_plugin.analysis.representations import controls, layer_representations
from elmo_plugin.analysis.sense_corpus import read_senses
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, add_json, add_trust
from elmo_plugin.common.streams import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", metavar="BILM", help=BILM_HELP)
    about = "with senses: JSON lines (plain, .gz or .zst), or .data.xml with its .gold.key.txt next to it"
    add("train", metavar="TRAIN", help=f"the training corpus, {about}")
    add("test", metavar="TEST", nargs="+", help="corpora that are scored, of the same formats")
    about = "one sense per line: lemma, part of speech, rank and key, with tabs (default: nltk's WordNet)"
    add("--first-senses", metavar="FILE", help=about)
    about = "also score the mixes of the layers of these models (see elmo-weights)"
    add("--mix", metavar="ARCHIVE", nargs="+", default=[], help=about)
    about = "also score a random biLM of the same sizes, and the counts of a word's characters"
    add("--controls", action="store_true", help=about)
    about = "which of equally near senses is given, by the training corpus (default: frequent)"
    add("--ties", choices=TIES, default="frequent", help=about)
    add_json(parser)
    add_trust(parser)


def run(args: argparse.Namespace) -> dict[str, Any]:
    first_sense = read_first_senses(args.first_senses).get if args.first_senses else wordnet_first_senses()
    bilm = BiLm.from_pretrained(args.bilm)
    layers = layer_representations(bilm, args.mix, args.trust)
    scores: dict[str, list[SenseScore]] = {test: [] for test in args.test}
    for representations in (layers, *(controls(bilm, layers) if args.controls else [])):
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


COMMAND = Command(
    description="Give each word the sense of its lemma with the nearest mean vector over a training corpus, "
    "by each layer of a biLM; lemmas that the training corpus does not have get their "
    "first sense. Prints the F1 of each layer, of their mean, and of the first sense of all words.",
    add_arguments=add_arguments,
    run=run,
)
