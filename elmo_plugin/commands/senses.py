"""`elmo senses`: measures how well a biLM's layers tell the senses of words."""

import argparse
from collections.abc import Sequence
from typing import Any

from elmo_plugin.analysis import Representation, controls, layer_combinations
from elmo_plugin.analysis.senses import (
    TIES,
    NearestSense,
    SenseScore,
    read_first_senses,
    read_senses,
    score_senses,
    wordnet_first_senses,
)
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.command import BILM_HELP, Command, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", metavar="BILM", help=BILM_HELP)
    about = "with senses: JSON lines (plain, .gz or .zst), or .data.xml with its .gold.key.txt next to it"
    add("train", metavar="TRAIN", help=f"the training corpus, {about}")
    add("test", metavar="TEST", nargs="+", help="corpora that are scored, of the same formats")
    about = "a sense a line: lemma, part of speech, rank and key, with tabs (default: nltk's WordNet)"
    add("--first-senses", metavar="FILE", help=about)
    about = "models whose mixes of the layers are scored, too (see elmo-weights)"
    add("--mix", metavar="ARCHIVE", nargs="+", default=[], help=about)
    about = "score a random biLM of the same sizes, and the counts of a word's characters, too"
    add("--controls", action="store_true", help=about)
    about = "which of equally near senses is given, by the training corpus (default: frequent)"
    add("--ties", choices=TIES, default="frequent", help=about)
    add_json(parser)


def run(args: argparse.Namespace) -> dict[str, Any]:
    first_sense = read_first_senses(args.first_senses).get if args.first_senses else wordnet_first_senses()
    bilm = BiLm.from_pretrained(args.bilm)
    combinations = layer_combinations(bilm, args.mix)
    representations = [Representation(bilm.embed, combinations)]
    representations += controls(bilm, combinations) if args.controls else []
    scores: dict[str, list[SenseScore]] = {test: [] for test in args.test}
    for representation in representations:
        model = NearestSense(representation, args.ties)
        if not model.fit(read_senses(args.train)):
            raise BiLmError(f"{args.train}: there is no word with a sense in this file")
        for test, of_test in scores.items():
            of_first, *of_layers = score_senses(model, read_senses(test), first_sense)
            of_test += of_layers if of_test else [of_first, *of_layers]
    for test, of_test in scores.items():
        if not of_test[0].total:
            raise BiLmError(f"{test}: there is no word with a sense in this file")
        print(f"{test}: {of_test[0].total:,} words\n{table(of_test)}\n")
    return {test: {score.name: _figures(score) for score in of_test} for test, of_test in scores.items()}


def table(scores: Sequence[SenseScore]) -> str:
    """Returns a line for each score, with its F1 in percent."""
    width = max(len(score.name) for score in scores)
    return "\n".join(f"{score.name:{width}}  {100 * score.f1:6.2f}" for score in scores)


def _figures(score: SenseScore) -> dict[str, float]:
    return {"f1": score.f1, "correct": score.correct, "answered": score.answered, "total": score.total}


COMMAND = Command(
    description="Give each word the sense, among those of its lemma, whose mean vector over a training "
    "corpus is the nearest, by each layer of a biLM; lemmas that the training corpus does not have get their "
    "first sense. Prints the F1 of each layer, of their mean, and of the first sense of all words.",
    add_arguments=add_arguments,
    run=run,
)
