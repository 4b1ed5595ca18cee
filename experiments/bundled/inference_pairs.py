"""Makes pairs for inference from captions: opposites, hypernyms, synonyms, negations, passives."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from wordnet import WordNet

ENTAILS, NEUTRAL, CONTRADICTS = "entailment", "neutral", "contradiction"


def words_in(text: str) -> set[str]:
    return set(text.split())


GENERAL = words_in(
    "animal person vehicle instrument food clothing garment drink beverage fruit vegetable plant "
    "building furniture room toy bird insect fish tool weapon sport game machine container "
    "footwear hat child adult"
)
KINDS = [  # of which something is at most one
    "red blue green yellow black white brown pink purple orange gray",
    "one two three four five six seven eight nine ten eleven twelve",
    "first second third fourth fifth sixth last",
    "guitar piano violin trumpet flute saxophone drum cello harp accordion clarinet banjo",
    "beer wine coffee tea water juice milk soda lemonade champagne whiskey vodka",
    "apple banana pear peach orange lemon melon grape cherry strawberry",
    "carrot potato tomato onion cucumber pepper cabbage broccoli lettuce",
    "kitchen bathroom bedroom office basement garage classroom hallway",
    "car bus train truck motorcycle bicycle boat plane helicopter tractor",
    "dog cat horse cow sheep goat pig elephant monkey bird fish lion tiger bear rabbit",
    "American French German Chinese Japanese Indian Italian Spanish Russian Mexican British "
    "Canadian African",
    "America France Germany China Japan India Italy Spain Russia Mexico England Canada Brazil "
    "Egypt",
    "wooden metal plastic glass stone leather cotton paper concrete",
    "soccer football baseball basketball tennis hockey golf rugby volleyball",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "summer winter spring autumn",
    "morning afternoon evening night",
    "table chair couch bench bed desk stool",
    "man woman",
    "boy girl",
    "men women",
    "boys girls",
    "his her",
    "he she",
    "inside outside",
    "indoors outdoors",
    "up down",
    "before after",
    "above below",
    "alone together",
    "everybody nobody",
    "asleep awake",
    "with without",
    "Mercury Venus Mars Jupiter Saturn",
    "north south east west",
    "left right",
    "doctor lawyer teacher policeman cook",
]
DETERMINERS = words_in("a an the some this his her their two three four many several")
PREPOSITIONS = words_in(
    "in on at near with through along behind beside while during for by under over from"
)
AFTER_NOUNS = PREPOSITIONS | words_in("is are and or who that while to of as has")
CLAUSE = re.compile(
    r"(?P<det>An?|The|Two|Three|Some) (?P<noun>[\w ]{2,30}?) (?P<be>is|are) (?P<rest>\w+ing\b.*)"
)
PASSIVE = re.compile(
    r"(?P<verb>\w+ing) (?P<object>(?:an?|the|some|his|her) (?:\w+ )?\w+?)"
    r"(?P<more> (?:in|on|at|with|near)\b.*)?"
)


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: str


def swaps(caption: str, wordnet: WordNet, generator: random.Random) -> Iterator[Pair]:
    """Yields pairs of a caption and itself with another word: a synonym, hypernym or opposite."""
    words = caption.split()
    for index, word in enumerate(words):
        lower = word.lower()

        def swapped(other: str, index: int = index) -> str:
            return replace(words, index, other)

        for kind in KINDS:
            others = kind.split()
            if lower in map(str.lower, others):
                other = generator.choice([each for each in others if each.lower() != lower])
                yield Pair(caption, swapped(other), CONTRADICTS)
        if lower.endswith("ing"):
            for other in [each for verb in stems(lower) for each in wordnet.antonyms(verb, "v")][
                :1
            ]:
                yield Pair(caption, swapped(progressive(other)), CONTRADICTS)
        if not is_noun(words, index, wordnet) and not is_adjective(words, index):
            continue
        plural = "s" if lower.endswith("s") and wordnet.hypernyms(lower[:-1]) else ""
        noun = lower.removesuffix("s") if plural else lower
        above = [each for each in wordnet.hypernyms(noun) if each in GENERAL]
        if (
            above
            and is_noun(words, index, wordnet)
            and noun not in ("man", "woman", "men", "women")
        ):
            general = generator.choice(above) + plural
            yield generator.choice(
                [Pair(caption, swapped(general), ENTAILS), Pair(swapped(general), caption, NEUTRAL)]
            )
        pos = "n" if is_noun(words, index, wordnet) else "a"
        for other in wordnet.antonyms(lower, pos)[:1]:
            yield Pair(caption, swapped(other), CONTRADICTS)
        same = wordnet.synonyms(noun if pos == "n" else lower, pos)
        if same and lower not in ("one", "two", "a", "in"):
            pair = (caption, swapped(generator.choice(same) + (plural if pos == "n" else "")))
            yield Pair(*generator.sample(pair, 2), ENTAILS)
        if pos == "a" and wordnet.antonyms(lower, "a"):
            short = replace(words[:index] + words[index + 1 :], index, words[index + 1])
            yield generator.choice([Pair(caption, short, ENTAILS), Pair(short, caption, NEUTRAL)])


def is_adjective(words: list[str], index: int) -> bool:
    """Returns whether a word is between a determiner and another word that may be a noun."""
    after = words[index + 1].lower() if index + 1 < len(words) else ""
    return (
        index > 0
        and words[index - 1].lower() in DETERMINERS
        and after not in AFTER_NOUNS
        and after != ""
    )


def is_noun(words: list[str], index: int, wordnet: WordNet) -> bool:
    """Returns whether a word ends a group of a determiner, perhaps an adjective, and a noun."""
    after = words[index + 1].lower() if index + 1 < len(words) else ""
    before = [word.lower() for word in words[max(index - 2, 0) : index]]
    begins = before and (
        before[-1] in DETERMINERS
        or (before[0] in DETERMINERS and wordnet.is_only_adjective(before[-1]))
    )
    return bool(begins) and (not after or after in AFTER_NOUNS)


def replace(words: list[str], index: int, other: str) -> str:
    """Returns the caption with another word at an index, and `a` or `an` before it."""
    words = [
        *words[:index],
        other.capitalize() if words[index][0].isupper() else other,
        *words[index + 1 :],
    ]
    if index and words[index - 1].lower() in ("a", "an"):
        article = words[index - 1][0] + ("n" if other[0].lower() in "aeiou" else "")
        words[index - 1] = article
    return " ".join(words)


def stems(form: str) -> list[str]:
    stem = form.removesuffix("ing")
    return [stem, stem + "e", stem[:-1]] if len(stem) > 2 else [stem]


def progressive(verb: str) -> str:
    if verb == "lie":
        return "lying"
    if re.fullmatch(r".*[^aeiou][aeiou][bdgmnpt]", verb) and len(verb) < 5:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def negated(caption: str, generator: random.Random) -> str | None:
    """Returns the negation of a caption such as "A man is running.", or `None` for others."""
    match = CLAUSE.fullmatch(caption)
    if not match:
        return None
    det, noun, be, rest = match.group("det", "noun", "be", "rest")
    forms = [f"{det} {noun} {be} not {rest}", f"{det} {noun} {be}n't {rest}"]
    if det not in ("The", "Two", "Three"):
        forms += [f"There {be} no {noun} {rest}", f"No {noun} {be} {rest}"]
        if noun in ("man", "woman", "person", "boy", "girl"):
            forms.append(f"Nobody is {rest}")
    return generator.choice(forms)


def negations(pair: Pair, generator: random.Random) -> Iterator[Pair]:
    """Yields a pair's negations whose label is known from the pair's."""
    negation = negated(pair.hypothesis, generator)
    if negation is None:
        return
    if pair.label == ENTAILS:
        yield Pair(pair.premise, negation, CONTRADICTS)
    if pair.label == NEUTRAL:
        yield Pair(pair.premise, negation, NEUTRAL)
        yield Pair(negation, pair.premise, NEUTRAL)
    yield Pair(*generator.sample((pair.hypothesis, negation), 2), CONTRADICTS)
    other = negated(pair.hypothesis, generator)
    if other is not None and other != negation:
        yield Pair(other, negation, ENTAILS)


def participles(folder: Path) -> Callable[[str], str]:
    """Returns a function from a verb's form in -ing to its past participle."""
    irregular: dict[str, list[str]] = {}
    for line in (folder / "verb.exc").read_text().splitlines():
        form, *lemmas = line.split()
        if not form.endswith("ing") and not form.endswith("s"):
            irregular.setdefault(lemmas[0], []).append(form)
    known = {
        line.split()[0]
        for line in (folder / "index.verb").read_text().splitlines()
        if line[:1] != " "
    }

    def participle(form: str) -> str:
        verb = next((stem for stem in reversed(stems(form)) if stem in known), stems(form)[0])
        forms = irregular.get(verb)
        if forms:
            return next(
                (each for each in forms if each.endswith(("en", "wn", "ne", "um", "ung", "unk"))),
                forms[-1],
            )
        stem = progressive(verb).removesuffix("ing")
        return (
            stem.removesuffix("y") + "ied"
            if stem.endswith("y") and stem[-2:-1] not in "aeo"
            else stem + "ed"
        )

    return participle


def passives(
    caption: str, participle: Callable[[str], str], generator: random.Random
) -> Iterator[Pair]:
    """
    Yields a caption with its passive, both ways, and with who does it and to whom changed about.
    """
    match = CLAUSE.fullmatch(caption.removesuffix("."))
    clause = match and PASSIVE.fullmatch(match["rest"])
    if match is None or not clause:
        return
    verb, thing, more = clause["verb"], clause["object"], clause["more"] or ""
    subject = f"{match['det'].lower()} {match['noun']}"
    end = "." if caption.endswith(".") else ""
    passive = f"{thing.capitalize()} is being {participle(verb)} by {subject}{more}{end}"
    if re.search(r"[^su]s$", thing):
        passive = passive.replace(" is being ", " are being ", 1)
    yield Pair(*generator.sample((caption, passive), 2), ENTAILS)
    if not more:
        yield Pair(caption, f"{thing.capitalize()} {match['be']} {verb} {subject}{end}", NEUTRAL)
        yield Pair(caption, passive.replace(" being ", " not being ", 1), CONTRADICTS)


def shortened(caption: str, generator: random.Random) -> Iterator[Pair]:
    """
    Yields a caption and itself without its last phrase: the short one follows, the long one may be.
    """
    words = caption.removesuffix(".").split()
    places = [index for index in range(4, len(words) - 1) if words[index] in PREPOSITIONS]
    if places and CLAUSE.match(caption):
        short = " ".join(words[: places[-1]]) + ("." if caption.endswith(".") else "")
        yield generator.choice([Pair(caption, short, ENTAILS), Pair(short, caption, NEUTRAL)])
