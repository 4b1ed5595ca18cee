"""Accuracy of an inference model on pairs of sentences with ASCII and with typographic apostrophes."""

import argparse
import re
from pathlib import Path
from typing import Any

from figures import report

from elmo_plugin import load_predictor
from elmo_plugin.tasks import read_text_lines
from elmo_plugin.tasks.records import parse_records

Pair = tuple[str, str, str]  # premise, hypothesis, label


def accuracies(predictor: Any, pairs: list[Pair]) -> dict[str, float]:
    """Returns the accuracy, in percent, for each way to type and to split the pairs."""
    reader = predictor._dataset_reader
    typographic = [
        (one.replace("'", "\u2019"), other.replace("'", "\u2019"), label) for one, other, label in pairs
    ]
    ways = {
        "ascii": (pairs, reader.tokenizer.tokenize),
        "typographic": (typographic, reader.tokenizer.tokenize),
        "not_normalized": (typographic, lambda text: list(reader.tokenizer.split(text))),
    }
    figures: dict[str, float] = {"pairs": len(pairs)}
    for name, (typed, split) in ways.items():
        instances = [reader.text_to_instance(split(one), split(other)) for one, other, _ in typed]
        outputs = [predictor.predict_instance(instance)["label"] for instance in instances]
        right = sum(output == label for output, (*_, label) in zip(outputs, typed, strict=True))
        figures[name] = round(100 * right / len(typed), 1)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", help="a model of natural language inference")
    parser.add_argument("pairs", nargs="+", help="files of SNLI's JSON lines")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    args = parser.parse_args()
    records = [record for file in args.pairs for _, record in parse_records(read_text_lines(file))]
    pairs = [(record["sentence1"], record["sentence2"], record["gold_label"]) for record in records]
    pairs = [pair for pair in pairs if pair[2] != "-" and "'" in pair[0] + pair[1]]
    negated = [pair for pair in pairs if re.search(r"n't\b", " ".join(pair[:2]))]
    predictor = load_predictor(args.archive)
    report({"apostrophe": accuracies(predictor, pairs), "negated": accuracies(predictor, negated)}, args.json)


if __name__ == "__main__":
    main()
