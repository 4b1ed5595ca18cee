"""Draw a small sentiment treebank from the grammar in `sst_grammar/`.

    python experiments/data/make_sst.py --seed 13 --out experiments/data/sst

writes `train.txt` and `dev.txt` in the format of the Stanford Sentiment Treebank and prints their statistics
as a Markdown table. The same seed gives the same bytes. `README.md` describes the data and the grammar.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from make_ner import SHORTEST_SPLIT_LIST, Grammar, SentenceSource, read_grammar, write_atomically

GRAMMAR = Path(__file__).parent / "sst_grammar"
SIZES = {"train": 1500, "dev": 300}
SENTENCE_LENGTHS = range(4, 26)
GRAMMAR_ITEM = re.compile(r"\((?:[A-Z]{2,}(?= ))?|\)|\{[^}]+\}|[^\s(){}]+")
WORD = re.compile(r"[^\s()]+(?=\))")
A_BEFORE_A_VOWEL = re.compile(r"(?<=\(2 a)(?=\)[ ()\d]*([aeiou]|honest))", re.IGNORECASE)
NEUTRAL = 2


class Part(NamedTuple):
    """A part of a sentence as a tree, and its sentiment: -2 and -1 are negative, 0 is neutral."""

    sentiment: int
    tree: str


class TreeSource(SentenceSource):
    """Draws trees."""

    def tree(self) -> str:
        while True:
            tree = fix_spelling(self.draw_part("sentence").tree)
            if len(words_of(tree)) in SENTENCE_LENGTHS:
                return tree

    def draw_part(self, symbol: str) -> Part:
        return self.compose(iter(GRAMMAR_ITEM.findall(self.draw(symbol, gender=""))))

    def compose(self, items: Iterator[str]) -> Part:
        """What the next items of the grammar, up to the end of their brackets, stand for."""
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
    """Write "an" where the next word asks for it and capitalise the first word."""
    return WORD.sub(lambda word: word[0][0].upper() + word[0][1:], A_BEFORE_A_VOWEL.sub("n", tree), count=1)


def words_of(tree: str) -> list[str]:
    return WORD.findall(tree)


def training_grammar(grammar: Grammar, seed: int) -> Grammar:
    """Without a fifth of every long list, which is for development only."""
    return {
        symbol: Random(f"{seed} {symbol}").sample(alternatives, len(alternatives) * 4 // 5)
        if len(alternatives) >= SHORTEST_SPLIT_LIST
        else alternatives
        for symbol, alternatives in grammar.items()
    }


def draw_parts(grammar: Grammar, seed: int) -> dict[str, list[str]]:
    drawn: set[str] = set()
    parts: dict[str, list[str]] = {}
    for part, part_grammar in {"train": training_grammar(grammar, seed), "dev": grammar}.items():
        source = TreeSource(part_grammar, Random(f"{seed} {part}"))
        parts[part] = []
        while len(parts[part]) < SIZES[part]:
            tree = source.tree()
            if tree not in drawn:
                drawn.add(tree)
                parts[part].append(tree)
    return parts


def statistics(train: list[str], dev: list[str]) -> str:
    """As a Markdown table."""
    tokens = [[word for tree in part for word in words_of(tree)] for part in (train, dev)]
    new = [word for word in tokens[1] if word not in set(tokens[0])]
    with_new = sum(not set(new).isdisjoint(words_of(tree)) for tree in dev)
    of_all = f"{with_new} ({with_new / len(dev):.0%})"
    rows = [
        ("", "train", "dev"),
        ("---", "---:", "---:"),
        ("sentences", len(train), len(dev)),
        *(
            (f"sentences, {label}", *(sum(tree[1] == str(label) for tree in part) for part in (train, dev)))
            for label in range(5)
        ),
        ("phrases, single words too", *(sum(tree.count("(") for tree in part) for part in (train, dev))),
        (
            "tokens in a sentence, mean",
            *(f"{len(words) / len(part):.1f}" for words, part in zip(tokens, (train, dev), strict=True)),
        ),
        ("word forms", *(len(set(words)) for words in tokens)),
        ("word forms that train lacks", "", f"{len(set(new))} ({len(set(new)) / len(set(tokens[1])):.0%})"),
        ("sentences with a word that train lacks", "", of_all),
    ]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a small sentiment treebank from sst_grammar/.")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, required=True, help="folder for train.txt and dev.txt")
    arguments = parser.parse_args()
    parts = draw_parts(read_grammar(GRAMMAR), arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part, trees in parts.items():
        write_atomically(arguments.out / f"{part}.txt", "".join(f"{tree}\n" for tree in trees))
    print(statistics(parts["train"], parts["dev"]))


if __name__ == "__main__":
    main()
