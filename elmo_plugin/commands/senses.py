"""Measure how well a biLM's layers tell the senses of a word apart. Each word gets the sense of its
lemma whose mean vector over a training corpus is nearest, or the first sense if the corpus does not
have the lemma. It prints the F1 of each layer, of their mean, and of always taking the first sense.

    elmo senses base train.jsonl test.jsonl --first-senses senses.txt
    elmo senses base train.data.xml test.data.xml --controls --json scores.json
"""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from elmo_plugin.commands.options import (
    InputPath,
    TextPath,
    add_shared,
    load_representations,
)
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import show

if TYPE_CHECKING:
    from elmo_plugin.analysis.nearest_sense import SenseScore
    from elmo_plugin.analysis.sense_corpus import LemmaKey

NEEDS = "allennlp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "bilm")
    parser.add_argument(
        "train",
        metavar="TRAIN",
        type=TextPath,
        help="the training corpus, with senses: JSON lines (or .gz, .zst), or .data.xml with its "
        ".gold.key.txt",
    )
    parser.add_argument(
        "tests",
        metavar="TEST",
        type=TextPath,
        nargs="+",
        help="corpora that are scored, in the same formats",
    )
    parser.add_argument(
        "--first-senses",
        metavar="FILE",
        type=InputPath,
        help="one sense per line: lemma, part of speech, rank and key, with tabs between them "
        "(default: nltk's WordNet)",
    )
    add_shared(parser, "--mix", action="append", default=[])
    add_shared(parser, "--controls", "--json", "--device", "--precision", "--cache", "--trust")


def run(args: argparse.Namespace) -> dict[str, Any]:
    from elmo_plugin.analysis.nearest_sense import NearestSense, score_senses
    from elmo_plugin.analysis.sense_corpus import (
        read_first_senses,
        read_senses,
        wordnet_first_senses,
    )

    first_sense_of: Callable[[LemmaKey], str | None]
    if args.first_senses:
        first_senses = read_first_senses(args.first_senses)
        first_sense_of = first_senses.get
    else:
        first_sense_of = wordnet_first_senses()
    scores: dict[str, list[SenseScore]] = {test: [] for test in args.tests}
    for representations in load_representations(args):
        model = NearestSense(representations)
        num_words = model.fit(read_senses(args.train))
        if num_words == 0:
            raise BiLmError(f"{args.train}: no word with a sense in this file")
        for test, test_scores in scores.items():
            new_scores = score_senses(model, read_senses(test), first_sense_of)
            if new_scores[0].total == 0:
                raise BiLmError(f"{test}: no word with a sense in this file")
            if test_scores:
                # The first score is of always taking the first sense. It needs no vectors, so
                # `test_scores` has it from the first representations.
                new_scores = new_scores[1:]
            test_scores += new_scores
    for test, test_scores in scores.items():
        _show_scores(test, test_scores)
    return {test: _figures_by_method(test_scores) for test, test_scores in scores.items()}


def _show_scores(test: str, scores: Sequence["SenseScore"]) -> None:
    """Prints the F1 of each method on a corpus."""
    num_words = scores[0].total  # the same for all methods
    show(f"{test}: {num_words:,} words")
    width = max(len(score.name) for score in scores)
    for score in scores:
        show(f"{score.name:{width}}  {100 * score.f1:6.2f}")
    show("")


def _figures_by_method(scores: Sequence["SenseScore"]) -> dict[str, dict[str, float]]:
    """Returns the figures of each method, by its name, for `--json`."""
    return {
        score.name: {
            "f1": score.f1,
            "correct": score.correct,
            "answered": score.answered,
            "total": score.total,
        }
        for score in scores
    }
