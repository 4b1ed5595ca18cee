"""Draw a small data set for natural language inference from the grammar in `snli_grammar/`.

    python experiments/data/make_snli.py --seed 13 --out experiments/data/snli

writes `train.jsonl` and `dev.jsonl` in the format of SNLI and prints their statistics as a Markdown table.
The same seed gives the same bytes. `README.md` describes the data and the format of the grammar.
"""

import json
import re
from collections import Counter
from random import Random
from typing import NamedTuple

from generator import DataSet, Grammar, Row, Source, share
from make_ner import NEEDS_AN

LABELS = ("entailment", "neutral", "contradiction")

LEFT_OUT, GENERAL, EXACT = range(3)
LEVELS = {  # how much a sentence may tell of each part of a scene
    "person": (GENERAL, EXACT),
    "verb": (EXACT,),
    "thing": (GENERAL, EXACT),
    "place": (LEFT_OUT, GENERAL, EXACT),
}


class Part(NamedTuple):
    """A part of a scene, told in general and exactly: a "musician" and a "harpist"."""

    general: str
    exact: str


class Verb(NamedTuple):
    """The forms after "she", "is" and "was"."""

    s: str
    ing: str
    ed: str


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: str


Scene = dict[str, Part]
Levels = dict[str, int]


class PairSource(Source[Pair]):
    """Draws pairs of sentences."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        super().__init__(grammar, random)
        self.exact_of = {  # for each part of a scene, what it can be in general, and of this, what exactly
            part: {
                name.partition(".")[2]: names
                for name, names in grammar.items()
                if name.startswith(f"{part}.")
            }
            for part in LEVELS
        }

    def draw_example(self, number: int) -> Pair:
        return self.pair(LABELS[number % len(LABELS)])

    def pair(self, label: str) -> Pair:
        """
        First a hypothesis that may have any of the labels, then a premise for this one: so that hypotheses
        alone tell nothing about their labels.
        """
        levels = {part: self.random.choice(choices) for part, choices in LEVELS.items()}
        may_be_told_less = [part for part, level in levels.items() if level > min(LEVELS[part])]
        if not may_be_told_less:
            return self.pair(label)
        scene = self.scene()
        hypothesis = self.sentence("hypothesis", scene, levels)
        # The premise tells all that the hypothesis tells, or more ...
        told = {part: self.level(part, at_least=level) for part, level in levels.items()}
        if label == "neutral":  # ... but of one part it tells less ...
            part = self.random.choice(may_be_told_less)
            told[part] = self.level(part, below=levels[part])
        elif label == "contradiction":  # ... but one part is another.
            part = self.random.choice([part for part, level in levels.items() if excludes(part, level)])
            told[part] = EXACT
            scene[part] = self.other(part, scene[part], levels[part])
        return Pair(self.sentence("premise", scene, told), hypothesis, label)

    def level(self, part: str, at_least: int = LEFT_OUT, below: int = EXACT + 1) -> int:
        return self.random.choice([level for level in LEVELS[part] if at_least <= level < below])

    def scene(self) -> Scene:
        scene = {part: self.draw(part) for part in LEVELS if part != "verb"}
        return scene | {"verb": self.draw("verb", scene["thing"].general)}

    def draw(self, part: str, general: str = "") -> Part:
        general = general or self.random.choice(list(self.exact_of[part]))
        return Part(general, self.random.choice(self.exact_of[part][general]))

    def other(self, part: str, this: Part, level: int) -> Part:
        """What cannot be `this` part of a scene, which the hypothesis tells at this level."""
        kind = "" if part in ("person", "place") else this.general
        while True:
            other = self.draw(part, kind)
            if other[level - GENERAL] != this[level - GENERAL]:
                return other

    def sentence(self, symbol: str, scene: Scene, levels: Levels) -> str:
        words = {part: ("", *scene[part])[level] for part, level in levels.items()}
        verb = Verb(*words.pop("verb").split())
        return fix_spelling(self.random.choice(self.grammar[symbol]).format(verb=verb, **words))


def excludes(part: str, level: int) -> bool:
    """Whether what is told of a part excludes another. (Another kind of thing would need another verb.)"""
    return level == EXACT or (level == GENERAL and part != "thing")


def fix_spelling(text: str) -> str:
    """As one writes it: " , a  oboe is tuned ." becomes "An oboe is tuned."."""
    text = re.sub(rf"\ba (?={NEEDS_AN.pattern})", "an ", " ".join(text.split()).lstrip(" ,"))
    return re.sub(r" (?=[.,])", "", text[0].upper() + text[1:])


def words_of(pair: Pair) -> list[str]:
    return re.findall(r"\w+|[.,]", f"{pair.premise} {pair.hypothesis}".lower())


class Inference(DataSet[Pair]):
    """Draw a small data set for inference from snli_grammar/."""

    name = "snli"
    ending = ".jsonl"
    train_size = 1800
    dev_size = 300
    source = PairSource

    def to_text(self, examples: list[Pair]) -> str:
        return "".join(
            json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis}) + "\n"
            for premise, hypothesis, label in examples
        )

    def statistics(self, train: list[Pair], dev: list[Pair]) -> list[Row]:
        parts = (train, dev)
        labels = [Counter(pair.label for pair in part) for part in parts]
        tokens = [[word for pair in part for word in words_of(pair)] for part in parts]
        words = [set(part) for part in tokens]
        new_words = words[1] - words[0]
        new_tokens = [word for word in tokens[1] if word in new_words]
        new_pairs = [pair for pair in dev if new_words.intersection(words_of(pair))]
        means = [f"{len(each) / len(part):.1f}" for each, part in zip(tokens, parts, strict=True)]
        return [
            ("pairs", *map(len, parts)),
            *((f"pairs, {label}", *(count[label] for count in labels)) for label in LABELS),
            ("tokens in a pair, mean", *means),
            ("word forms", *map(len, words)),
            ("word forms that train lacks", "", share(new_words, words[1])),
            ("tokens that train lacks", "", share(new_tokens, tokens[1])),
            ("pairs with a word that train lacks", "", share(new_pairs, dev)),
        ]


if __name__ == "__main__":
    Inference().main()
