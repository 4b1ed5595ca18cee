"""Counts how many sentences of test sets stand in training data, or share eight words with it.

    python experiments/bundled/shared_sentences.py runs/models/sst/train.jsonl FILE ...

A file has JSON lines with `text`, or `sentence1` and `sentence2`; or, as `.tsv`, a header, and the
text in the first column; or lines of text.
"""

import argparse
import csv
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

IN_A_ROW = 8
FIELDS = ("text", "sentence1", "sentence2")
Words = tuple[str, ...]


class Shares(NamedTuple):
    """
    total: the sentences of a test set
    whole: those that training data has, apart from case, spaces and punctuation
    partly: the others that share `IN_A_ROW` words in a row with it
    """

    total: int
    whole: int
    partly: int

    def __str__(self) -> str:
        return (
            f"{self.total} sentences, {percent(self.whole, self.total)} % stand in the training "
            f"data, {percent(self.partly, self.total)} % more share {IN_A_ROW} words with it"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("training", metavar="TRAINING", type=Path, help="the training data")
    parser.add_argument("tests", metavar="FILE", type=Path, nargs="+", help="test sets")
    arguments = parser.parse_args()
    training = TrainingSentences(texts_in(arguments.training))
    for test in arguments.tests:
        print(f"{test}: {training.shares_of(texts_in(test))}")


class TrainingSentences:
    """The sentences of training data, and all runs of `IN_A_ROW` words in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._sentences: set[Words] = set()
        self._runs: set[Words] = set()
        for text in texts:
            words = words_of(text)
            self._sentences.add(words)
            self._runs.update(runs_of(words))

    def shares_of(self, texts: Iterable[str]) -> Shares:
        """Counts the sentences of a test set. Raises `ValueError` if it is empty."""
        total = 0
        whole = 0
        partly = 0
        for text in texts:
            total += 1
            if self.has(text):
                whole += 1
            elif self.shares_words_with(text):
                partly += 1
        if total == 0:
            raise ValueError("a test set is empty")
        return Shares(total, whole, partly)

    def has(self, text: str) -> bool:
        return words_of(text) in self._sentences

    def shares_words_with(self, text: str) -> bool:
        return not self._runs.isdisjoint(runs_of(words_of(text)))


def words_of(text: str) -> Words:
    """
    Returns the words of a text in lower case: letters and digits, as tokenizers differ in the rest.
    """
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))


def runs_of(words: Words) -> set[Words]:
    starts = range(len(words) - IN_A_ROW + 1)
    return {words[start : start + IN_A_ROW] for start in starts}


def percent(part: int, total: int) -> str:
    return f"{100 * part / total:.1f}"


def texts_in(file: Path) -> list[str]:
    """Returns the texts of a file, each once."""
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        texts = []
        for line in content.splitlines():
            row = json.loads(line)
            texts += [row[field] for field in FIELDS if field in row]
    elif file.suffix == ".tsv":
        with file.open(encoding="utf-8", newline="") as lines:
            texts = [row[0] for row in csv.reader(lines, delimiter="\t")][1:]
    else:
        texts = content.splitlines()
    return list(dict.fromkeys(texts))


if __name__ == "__main__":
    main()
