"""Makes sentences with a side from patterns, such as those of `business.txt`."""

import random
import re
from pathlib import Path
from typing import NamedTuple

SIDES = ("negative", "neutral", "positive")
SLOT = re.compile(r"\{([A-Z]+)\}")
AMOUNTS = {"LESS", "MORE"}  # two amounts of the same currency; MORE is the larger
CURRENCIES = (
    "EUR {} mn",
    "EUR{}m",
    "€{} million",
    "${} million",
    "£{}m",
    "{} million euros",
    "{} million dollars",
    "SEK {} billion",
    "£{} million",
    "{} million",
)


class Patterns(NamedTuple):
    """
    sides: patterns with their side
    fillers: of each place, with places of their own perhaps
    """

    sides: list[tuple[str, str]]
    fillers: dict[str, list[str]]


def read_patterns(file: Path) -> Patterns:
    """
    Reads patterns. A line is a side, a tab and a pattern; or `@`, a place, a tab, and its
    fillers, between ` | `; or a comment after `#`.

    Raises `ValueError` if a line is something else, or if nothing fills a place.
    """
    patterns = Patterns([], {})
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        name, separator, content = line.partition("\t")
        if name.startswith("@") and separator:
            patterns.fillers[name[1:]] = content.split(" | ")
        elif name in SIDES and separator:
            patterns.sides.append((content, name))
        else:
            raise ValueError(f"{file}, line {number}: expected a side or a place, got {line!r}")
    texts = [pattern for pattern, _ in patterns.sides]
    for values in patterns.fillers.values():
        texts += values
    places = {place for text in texts for place in SLOT.findall(text)}
    unknown = places - patterns.fillers.keys() - AMOUNTS
    if unknown:
        raise ValueError(f"{file}: nothing fills {', '.join(sorted(unknown))}")
    return patterns


def fill(pattern: str, fillers: dict[str, list[str]], generator: random.Random) -> str:
    """Returns a pattern with its places filled at random, and a capital at its beginning."""
    amounts = two_amounts(generator)

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name in AMOUNTS:
            return amounts[name]
        return generator.choice(fillers[name])

    text = pattern
    while SLOT.search(text):
        text = SLOT.sub(value_of, text)
    return text[:1].upper() + text[1:]


def two_amounts(generator: random.Random) -> dict[str, str]:
    """Returns a smaller and a larger amount of money, in the same form."""
    form = generator.choice(CURRENCIES)
    less = generator.uniform(1, 90)
    more = less * generator.uniform(1.05, 2.5)
    digits = generator.choice((0, 1))
    if digits == 0:
        more += 1
    return {"LESS": form.format(f"{less:.{digits}f}"), "MORE": form.format(f"{more:.{digits}f}")}


def sentences(file: Path, number: int, generator: random.Random) -> list[tuple[str, str]]:
    """
    Returns different sentences from the patterns of a file with their sides, a third of the number
    of each side. Half of the longer ones end in a full stop.
    """
    patterns = read_patterns(file)
    made: list[tuple[str, str]] = []
    for side in SIDES:
        of_side = [pattern for pattern, its_side in patterns.sides if its_side == side]
        texts = set()
        ordered: list[str] = []
        for turn in range(20 * number):
            if len(ordered) == number // len(SIDES):
                break
            text = fill(of_side[turn % len(of_side)], patterns.fillers, generator)
            if len(text.split()) > 4 and text[-1].isalnum() and generator.random() < 0.5:
                text += "."
            if text not in texts:
                texts.add(text)
                ordered.append(text)
        made += [(text, side) for text in ordered]
    return made
