"""Draw a small data set for named-entity recognition from the grammar in `ner_grammar/`.

    python experiments/data/make_ner.py --seed 13 --out experiments/data/ner

writes `train.txt` and `dev.txt` in the format of CoNLL-2003 and prints their statistics as a Markdown table.
The same seed gives the same bytes. `README.md` describes the data and the format of the grammar.
"""

import argparse
import os
import re
from collections import defaultdict
from pathlib import Path
from random import Random

from ner_statistics import Sentence, statistics

GRAMMAR = Path(__file__).parent / "ner_grammar"
SIZES = {"train": 400, "dev": 150}
SENTENCE_LENGTHS = range(5, 36)
SENTENCES_PER_DOCUMENT = 10
SHORTEST_SPLIT_LIST = 6  # shorter lists are the same in both parts
GRAMMAR_ITEM = re.compile(r"\{[^}]+\}|\[[A-Z]+|\]|[^\s\[\]{}]+")
NEEDS_AN = re.compile(r"(?!euro|one\b|uni)[aeiou]", re.IGNORECASE)

Grammar = dict[str, list[str]]  # symbol -> its alternatives


def read_grammar(folder: Path) -> Grammar:
    grammar: Grammar = defaultdict(list)
    symbol = ""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.endswith(":"):
                symbol = line.removesuffix(":")
            elif line.strip() and not line.lstrip().startswith("#"):
                grammar[symbol] += [alternative.strip() for alternative in line.split("|")]
    return dict(grammar)


def split_grammar(grammar: Grammar, seed: int) -> dict[str, Grammar]:
    """A third of every long list is for training only, a third for development only, a third for both."""
    parts: dict[str, Grammar] = {"train": {}, "dev": {}}
    for symbol, alternatives in grammar.items():
        train = dev = alternatives
        if len(alternatives) >= SHORTEST_SPLIT_LIST:
            shuffled = Random(f"{seed} {symbol}").sample(alternatives, len(alternatives))
            third = len(shuffled) // 3
            train, dev = shuffled[third:], shuffled[:-third]
        parts["train"][symbol], parts["dev"][symbol] = train, dev
    return parts


class SentenceSource:
    """Draws sentences. Every list is a deck of cards: all alternatives come up before one comes up again."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        self.grammar = grammar
        self.random = random
        self.decks: dict[str, list[str]] = defaultdict(list)

    def sentence(self) -> Sentence:
        while True:
            sentence = tag(self.expand("sentence", gender=self.random.choice("fm")))
            if len(sentence) in SENTENCE_LENGTHS and not repeats_a_name(sentence):
                return fix_spelling(sentence)

    def expand(self, symbol: str, gender: str) -> list[str]:
        """The words and the entity brackets, `[PER` and `]`, of one alternative of the symbol."""
        symbol, _, own_gender = symbol.partition(".")
        gender = own_gender or gender
        items = []
        for item in GRAMMAR_ITEM.findall(self.draw(symbol, gender)):
            items += self.expand(item[1:-1], gender) if item.startswith("{") else [item]
        return items

    def draw(self, symbol: str, gender: str) -> str:
        if symbol not in self.grammar:
            symbol = f"{symbol}.{gender}"
        deck = self.decks[symbol]
        if not deck:
            deck += self.random.sample(self.grammar[symbol], len(self.grammar[symbol]))
        return deck.pop()


def tag(items: list[str]) -> Sentence:
    """Turn entity brackets into BIO tags."""
    sentence, next_tag = [], "O"
    for item in items:
        if item.startswith("["):
            next_tag = f"B-{item[1:]}"
        elif item == "]":
            next_tag = "O"
        else:
            sentence.append((item, next_tag))
            next_tag = next_tag.replace("B-", "I-")
    return sentence


def repeats_a_name(sentence: Sentence) -> bool:
    names = [word for word, tag in sentence if tag != "O" and word[0].isupper()]
    return len(set(names)) < len(names)


def fix_spelling(sentence: Sentence) -> Sentence:
    """Write "an" where the next word asks for it and capitalise the first word."""
    words = [word for word, _ in sentence]
    for i, following in enumerate(words[1:]):
        if words[i] in ("a", "A") and NEEDS_AN.match(following):
            words[i] += "n"
    first = 1 if words[0] == '"' else 0
    words[first] = words[first][0].upper() + words[first][1:]
    return [(word, tag) for word, (_, tag) in zip(words, sentence, strict=True)]


def draw_parts(grammar: Grammar, seed: int) -> dict[str, list[Sentence]]:
    drawn: set[str] = set()
    parts: dict[str, list[Sentence]] = {}
    for part, part_grammar in split_grammar(grammar, seed).items():
        source = SentenceSource(part_grammar, Random(f"{seed} {part}"))
        parts[part] = []
        while len(parts[part]) < SIZES[part]:
            sentence = source.sentence()
            text = " ".join(word for word, _ in sentence)
            if text not in drawn:
                drawn.add(text)
                parts[part].append(sentence)
    return parts


def to_conll(sentences: list[Sentence]) -> str:
    lines = []
    for i, sentence in enumerate(sentences):
        if i % SENTENCES_PER_DOCUMENT == 0:
            lines += ["-DOCSTART- -X- -X- O", ""]
        lines += [f"{word} _ _ {tag}" for word, tag in sentence] + [""]
    return "\n".join(lines) + "\n"


def write_atomically(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    os.replace(temporary, path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a small NER data set from ner_grammar/.")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, required=True, help="folder for train.txt and dev.txt")
    arguments = parser.parse_args()
    parts = draw_parts(read_grammar(GRAMMAR), arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part, sentences in parts.items():
        write_atomically(arguments.out / f"{part}.txt", to_conll(sentences))
    print(statistics(parts["train"], parts["dev"]))


if __name__ == "__main__":
    main()
