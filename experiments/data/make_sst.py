"""Draw a small sentiment treebank from the grammar in `sst_grammar/`.

    python experiments/data/make_sst.py --seed 13 --out experiments/data/sst

writes `train.txt` and `dev.txt` in the format of the Stanford Sentiment Treebank and prints their statistics
as a Markdown table. The same seed gives the same bytes. `README.md` describes the data and the grammar.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from generator import SHORTEST_SPLIT_LIST, DataSet, Grammar, Row, Source, share

SENTENCE_LENGTHS = range(4, 26)
GRAMMAR_ITEM = re.compile(r"\((?:[A-Z]{2,}(?= ))?|\)|\{[^}]+\}|[^\s(){}]+")
WORD = re.compile(r"[^\s()]+(?=\))")
A_BEFORE_A_VOWEL = re.compile(r"(?<=\(2 a)(?=\)[ ()\d]*([aeiou]|honest))", re.IGNORECASE)
NEUTRAL = 2


class Part(NamedTuple):
    """A part of a sentence as a tree, and its sentiment: -2 and -1 are negative, 0 is neutral."""

    sentiment: int
    tree: str


class TreeSource(Source[str]):
    """Draws trees."""

    def draw_example(self, number: int) -> str:
        while True:
            tree = fix_spelling(self.draw_part("sentence").tree)
            if len(words_of(tree)) in SENTENCE_LENGTHS:
                return tree

    def draw_part(self, symbol: str) -> Part:
        return self.compose(iter(GRAMMAR_ITEM.findall(self.deal(symbol))))

    def compose(self, items: Iterator[str]) -> Part:
        """Composes what the next items of the grammar, up to the end of their brackets, stand for."""
        item = next(items)
        if item.startswith("{"):
            return self.draw_part(item[1:-1])
        if item.startswith("("):
            first, second, _ = self.compose(items), self.compose(items), next(items)
            sentiment = RULES[item[1:]](first.sentiment, second.sentiment)
            return Part(sentiment, f"({sentiment + NEUTRAL} {first.tree} {second.tree})")
        word, _, label = item.partition("/")
        return Part(int(label or NEUTRAL) - NEUTRAL, f"({label or NEUTRAL} {word})")


def sign(sentiment: int) -> int:
    return (sentiment > 0) - (sentiment < 0)


def total(first: int, second: int) -> int:
    return max(-2, min(first + second, 2))


def but(first: int, second: int) -> int:
    """What comes last counts, and is not extreme if the first was of another opinion."""
    return second if second and first * second >= 0 else sign(second or first)


def negated(_: int, second: int) -> int:
    """ "Not superb" is as far from good as "not good", and "not dreadful" as far from bad."""
    return {-2: 0, -1: 1, 0: 0, 1: -1, 2: -1}[second]


RULES = {  # the sentiment of two parts together
    "": total,
    "BUT": but,
    "NOT": negated,
    "VERY": lambda _, second: 2 * sign(second),
    "SLIGHTLY": lambda _, second: sign(second),
    "TOO": lambda _, second: -2 if second < 0 else -1,  # "too long", "too clever"
}


def fix_spelling(tree: str) -> str:
    """Writes "an" where the next word asks for it and capitalises the first word."""
    return WORD.sub(lambda word: word[0][0].upper() + word[0][1:], A_BEFORE_A_VOWEL.sub("n", tree), count=1)


def words_of(tree: str) -> list[str]:
    return WORD.findall(tree)


def training_grammar(grammar: Grammar, seed: int) -> Grammar:
    """Leaves out a fifth of every long list, which is for development only."""
    return {
        symbol: Random(f"{seed} {symbol}").sample(alternatives, len(alternatives) * 4 // 5)
        if len(alternatives) >= SHORTEST_SPLIT_LIST
        else alternatives
        for symbol, alternatives in grammar.items()
    }


class Sentiment(DataSet[str]):
    """Draw a small sentiment treebank from sst_grammar/."""

    name = "sst"
    ending = ".txt"
    train_size = 1500
    dev_size = 300
    source = TreeSource

    def split(self, grammar: Grammar, seed: int) -> dict[str, Grammar]:
        return {"train": training_grammar(grammar, seed), "dev": grammar}

    def to_text(self, examples: list[str]) -> str:
        return "".join(f"{tree}\n" for tree in examples)

    def statistics(self, train: list[str], dev: list[str]) -> list[Row]:
        parts = (train, dev)
        tokens = [[word for tree in part for word in words_of(tree)] for part in parts]
        words = [set(part) for part in tokens]
        new_words = words[1] - words[0]
        new_trees = [tree for tree in dev if new_words.intersection(words_of(tree))]
        means = [f"{len(each) / len(part):.1f}" for each, part in zip(tokens, parts, strict=True)]
        return [
            ("sentences", *map(len, parts)),
            *(
                (f"sentences, {label}", *(sum(tree[1] == str(label) for tree in part) for part in parts))
                for label in range(5)
            ),
            ("phrases, single words too", *(sum(tree.count("(") for tree in part) for part in parts)),
            ("tokens in a sentence, mean", *means),
            ("word forms", *map(len, words)),
            ("word forms that train lacks", "", share(new_words, words[1])),
            ("sentences with a word that train lacks", "", share(new_trees, dev)),
        ]


if __name__ == "__main__":
    Sentiment().main()
