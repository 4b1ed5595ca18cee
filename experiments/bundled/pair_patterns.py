"""Makes pairs for inference from patterns, such as those of `overlap.txt`."""

import random
import re
from pathlib import Path
from typing import NamedTuple

from inference_pairs import CONTRADICTS, ENTAILS, NEUTRAL, Pair

LABELS = (ENTAILS, NEUTRAL, CONTRADICTS)
VOWEL_AFTER_A = re.compile(r"\b([Aa]) (?=[aeiou])")
PLACE = re.compile(r"\{(?P<name>[A-Z]+)(?P<number>\d?)(?:\.(?P<form>\d))?\}")
TURNS = 20  # of all patterns, for each pair that is wanted


class PairPatterns(NamedTuple):
    """
    pairs: patterns of a premise and a hypothesis, with their label
    fillers: of each place, each as the list of its forms
    """

    pairs: list[Pair]
    fillers: dict[str, list[list[str]]]


def read_patterns(file: Path) -> PairPatterns:
    """
    Reads patterns. A line is a label, a premise and a hypothesis between tabs; or `@`, a place, a
    tab, and its fillers, between ` | `, their forms between slashes; or a comment after `#`.

    Raises `ValueError` if a line is something else, or if a filler or a form is missing.
    """
    patterns = PairPatterns([], {})
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if columns[0].startswith("@") and len(columns) == 2:
            fillers = columns[1].split(" | ")
            patterns.fillers[columns[0][1:]] = [filler.split("/") for filler in fillers]
        elif columns[0] in LABELS and len(columns) == 3:
            label, premise, hypothesis = columns
            check_places(f"{file}, line {number}", premise + hypothesis, patterns.fillers)
            patterns.pairs.append(Pair(premise, hypothesis, label))
        else:
            raise ValueError(f"{file}, line {number}: expected a pair or a place, got {line!r}")
    return patterns


def check_places(where: str, text: str, fillers: dict[str, list[list[str]]]) -> None:
    """Raises `ValueError` if the text has a place that nothing fills, or that lacks a form."""
    for place in PLACE.finditer(text):
        forms = fillers.get(place["name"])
        if forms is None:
            raise ValueError(f"{where}: nothing fills {place['name']}")
        if any(len(each) < int(place["form"] or 1) for each in forms):
            raise ValueError(f"{where}: a filler of {place['name']} lacks form {place['form']}")


def fill(pattern: Pair, fillers: dict[str, list[list[str]]], generator: random.Random) -> Pair:
    """
    Returns a pattern with its places filled at random: the same place by the same filler, and
    places with different numbers by different ones.
    """
    chosen: dict[str, list[str]] = {}
    for place in PLACE.finditer(pattern.premise + pattern.hypothesis):
        name = place["name"] + place["number"]
        if name in chosen:
            continue
        taken = [filler for other, filler in chosen.items() if other[:-1] == place["name"]]
        free = [filler for filler in fillers[place["name"]] if filler not in taken]
        chosen[name] = generator.choice(free)

    def value_of(place: re.Match[str]) -> str:
        form = int(place["form"] or 1)
        return chosen[place["name"] + place["number"]][form - 1]

    premise = VOWEL_AFTER_A.sub(r"\1n ", PLACE.sub(value_of, pattern.premise))
    hypothesis = VOWEL_AFTER_A.sub(r"\1n ", PLACE.sub(value_of, pattern.hypothesis))
    return Pair(premise, hypothesis, pattern.label)


def pairs(file: Path, number: int, generator: random.Random) -> list[Pair]:
    """
    Returns different pairs from the patterns of a file, a third of the number of each label, as
    many of each pattern as possible.
    """
    patterns = read_patterns(file)
    found: list[Pair] = []
    for label in LABELS:
        of_label = [pattern for pattern in patterns.pairs if pattern.label == label]
        made: dict[Pair, None] = {}  # a set in the order of its making
        for turn in range(TURNS * number):
            if len(made) == number // len(LABELS):
                break
            pattern = of_label[turn % len(of_label)]
            made[fill(pattern, patterns.fillers, generator)] = None
        found += made
    return found
