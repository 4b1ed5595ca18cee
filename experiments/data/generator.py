"""What the programs that draw the example data share: grammars, parts, files and their statistics."""

import argparse
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sized
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

SHORTEST_SPLIT_LIST = 6  # shorter lists are the same in both parts

Example = TypeVar("Example")
Grammar = dict[str, list[str]]  # symbol -> its alternatives
Row = tuple[Any, ...]  # of a table: its name and its values in train and dev


def read_grammar(folder: Path) -> Grammar:
    """Reads all lists of a grammar; `README.md` describes the format."""
    grammar: Grammar = defaultdict(list)
    symbol = ""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.endswith(":"):
                symbol = line.removesuffix(":")
            elif line.strip() and not line.lstrip().startswith("#"):
                grammar[symbol] += [alternative.strip() for alternative in line.split("|")]
    return dict(grammar)


def split_in_thirds(grammar: Grammar, seed: int) -> dict[str, Grammar]:
    """Gives a third of every long list to training only, a third to development only, a third to both."""
    parts: dict[str, Grammar] = {"train": {}, "dev": {}}
    for symbol, alternatives in grammar.items():
        train = dev = alternatives
        if len(alternatives) >= SHORTEST_SPLIT_LIST:
            shuffled = Random(f"{seed} {symbol}").sample(alternatives, len(alternatives))
            third = len(shuffled) // 3
            train, dev = shuffled[third:], shuffled[:-third]
        parts["train"][symbol], parts["dev"][symbol] = train, dev
    return parts


class Source(ABC, Generic[Example]):
    """Draws the examples of one part of a data set."""

    def __init__(self, grammar: Grammar, random: Random) -> None:
        self.grammar = grammar
        self.random = random
        self._decks: dict[str, list[str]] = defaultdict(list)

    @abstractmethod
    def draw_example(self, number: int) -> Example:
        """Draws an example for the place `number` of its part."""

    def identity(self, example: Example) -> Hashable:
        """Returns what no two examples of a data set have in common."""
        return example

    def deal(self, symbol: str) -> str:
        """Draws as from a deck of cards: all alternatives come up before one comes up again."""
        deck = self._decks[symbol]
        if not deck:
            deck += self.random.sample(self.grammar[symbol], len(self.grammar[symbol]))
        return deck.pop()


class DataSet(ABC, Generic[Example]):
    """Describes a data set; its docstring is the help of the program."""

    name: str  # of the folder `NAME_grammar`
    ending: str  # of the files
    train_size: int
    dev_size: int
    source: Callable[[Grammar, Random], Source[Example]]

    def split(self, grammar: Grammar, seed: int) -> dict[str, Grammar]:
        """Returns the grammar of each part."""
        return split_in_thirds(grammar, seed)

    @abstractmethod
    def to_text(self, examples: list[Example]) -> str:
        """Returns the content of a file."""

    @abstractmethod
    def statistics(self, train: list[Example], dev: list[Example]) -> Iterable[Row]:
        """Returns the rows of a table."""

    def draw_parts(self, seed: int) -> dict[str, list[Example]]:
        """Draws all examples; the same seed gives the same ones."""
        grammar = read_grammar(Path(__file__).parent / f"{self.name}_grammar")
        sizes = {"train": self.train_size, "dev": self.dev_size}
        drawn: set[Hashable] = set()
        parts: dict[str, list[Example]] = {}
        for part, part_grammar in self.split(grammar, seed).items():
            source = self.source(part_grammar, Random(f"{seed} {part}"))
            parts[part] = []
            while len(parts[part]) < sizes[part]:
                example = source.draw_example(len(parts[part]))
                identity = source.identity(example)
                if identity not in drawn:
                    drawn.add(identity)
                    parts[part].append(example)
        return parts

    def main(self) -> None:
        """Writes the files that the command line asks for, and prints their statistics."""
        parser = argparse.ArgumentParser(description=self.__doc__)
        parser.add_argument("--seed", type=int, default=13)
        parser.add_argument("--out", type=Path, required=True, help="folder for the files of train and dev")
        arguments = parser.parse_args()
        parts = self.draw_parts(arguments.seed)
        arguments.out.mkdir(parents=True, exist_ok=True)
        for part, examples in parts.items():
            write_atomically(arguments.out / f"{part}{self.ending}", self.to_text(examples))
        print(markdown_table(self.statistics(parts["train"], parts["dev"])))


def markdown_table(rows: Iterable[Row]) -> str:
    lines = [("", "train", "dev"), ("---", "---:", "---:"), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def share(some: Sized, all_of_them: Sized) -> str:
    return f"{len(some)} ({len(some) / len(all_of_them):.0%})"


def write_atomically(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    os.replace(temporary, path)
