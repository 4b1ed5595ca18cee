"""Writes the data of the bundled coreference model: OntoGUM, LitBank, and documents made from
patterns.
"""

import gzip
import random
import re
import sys
from pathlib import Path

from ner_data import Names, read_all_names, words_of

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "data"))
import cut  # noqa: E402

SEED = 13
COPIES = 2  # of each pattern, with other names
COPIES_OF_SURNAMES = 5
# Each with its share among the made documents.
CHANGES = {str: 0.8, str.lower: 0.1, str.upper: 0.1}


def write(data: Path, folder: Path) -> None:
    """
    Writes `train.gold_conll` and `dev.gold_conll`, of OntoGUM only what may be redistributed; and
    for the second training `more.gold_conll`, with the documents of `surnames.txt` too.
    """
    gum = {
        part: cut.coref(data / "coref", part, documents=10**9, seed=SEED)
        for part in ("train", "dev")
    }
    with gzip.open(data / "coref_litbank/train.gold_conll.gz", "rt", encoding="utf-8") as lines:
        novels = lines.read()
    dev = (data / "coref_litbank/dev.gold_conll").read_text(encoding="utf-8")
    generator, names = random.Random(SEED), read_all_names()

    def documents_of(file: str, copies: int) -> str:
        """Returns documents made from the patterns of a file."""
        patterns = (HERE / file).read_text(encoding="utf-8").splitlines() * copies
        changes = generator.choices([*CHANGES], [*CHANGES.values()], k=len(patterns))
        made = []
        for number, (pattern, change) in enumerate(zip(patterns, changes, strict=True)):
            text = change(fill(pattern, names, generator))
            made.append(document(text, f"{Path(file).stem}{number}"))
        return "".join(made)

    train = gum["train"] + novels + documents_of("documents.txt", COPIES)
    cut.write(folder / "train.gold_conll", train)
    cut.write(folder / "dev.gold_conll", gum["dev"] + dev)
    surnames = documents_of("surnames.txt", COPIES_OF_SURNAMES)
    cut.write(folder / "more.gold_conll", train + surnames)


def fill(pattern: str, names: Names, generator: random.Random) -> str:
    """
    Returns a pattern with names in its slots: another name in each, but for `{LAST}`, the same last
    name each time, `{OTHER}`, a second one, and those with a number: `{CITY1}` is the first city
    again.
    """
    last = generator.choice(names["LAST"])
    unused = {kind: generator.sample(some, min(3, len(some))) for kind, some in names.items()}
    others = [name for name in unused["LAST"] if name != last]
    used: dict[str, list[str]] = {}

    def name_in(slot: re.Match[str]) -> str:
        """Returns the words of the name in a slot."""
        kind, again = slot.groups()
        if kind == "LAST":
            name = last
        elif kind == "OTHER":
            name = others[0]
        elif again:
            name = used[kind][int(again) - 1]
        else:
            name = unused[kind].pop()
            used.setdefault(kind, []).append(name)
        return " ".join(words_of(name))

    return re.sub(r"{([A-Z]+)(\d?)}", name_in, pattern)


def document(text: str, name: str) -> str:
    """Returns a document in the columns of CoNLL-2012. `[1 She]` is a mention in chain 1."""
    lines: list[tuple[str, str]] = []
    chains: list[str] = []
    opened = ""
    for part in text.split():
        if part.startswith("["):
            chains.append(part[1:])
            opened += f"|({part[1:]}"
            continue
        word = part.rstrip("]")
        marks = opened
        for _ in range(len(part) - len(word)):
            chain = chains.pop()
            marks = f"{marks})" if marks.endswith(f"({chain}") else f"{marks}|{chain})"
        opened = ""
        lines.append((word, marks.strip("|") or "-"))
    rows: list[str] = []
    number = 0
    for index, (word, mark) in enumerate(lines):
        rows.append(f"{name} 0 {number} {word} XX * - - - - * {mark}\n")
        number += 1
        if word in (".", "?", "!") and index + 1 < len(lines):
            rows.append("\n")
            number = 0
    return f"#begin document ({name}); part 000\n{''.join(rows)}\n#end document\n"
