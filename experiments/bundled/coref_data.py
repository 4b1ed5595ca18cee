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
# Each with its share among the made documents.
CHANGES = {str: 0.8, str.lower: 0.1, str.upper: 0.1}


def write(data: Path, folder: Path) -> None:
    """Writes `train.gold_conll` and `dev.gold_conll`; of OntoGUM only what may be redistributed."""
    gum = {
        part: cut.coref(data / "coref", part, documents=10**9, seed=SEED)
        for part in ("train", "dev")
    }
    with gzip.open(data / "coref_litbank/train.gold_conll.gz", "rt", encoding="utf-8") as lines:
        novels = lines.read()
    dev = (data / "coref_litbank/dev.gold_conll").read_text(encoding="utf-8")
    generator, names = random.Random(SEED), read_all_names()
    patterns = (HERE / "documents.txt").read_text(encoding="utf-8").splitlines() * COPIES
    changes = generator.choices([*CHANGES], [*CHANGES.values()], k=len(patterns))
    made = "".join(
        document(change(fill(pattern, names, generator)), f"made{number}")
        for number, (pattern, change) in enumerate(zip(patterns, changes, strict=True))
    )
    cut.write(folder / "train.gold_conll", gum["train"] + novels + made)
    cut.write(folder / "dev.gold_conll", gum["dev"] + dev)


def fill(pattern: str, names: Names, generator: random.Random) -> str:
    """Returns a pattern with names in its slots: the same last name, and another name each time."""
    last = generator.choice(names["LAST"])
    drawn = {kind: generator.sample(some, min(3, len(some))) for kind, some in names.items()}
    return re.sub(
        "{([A-Z]+)}",
        lambda slot: " ".join(words_of(last if slot[1] == "LAST" else drawn[slot[1]].pop())),
        pattern,
    )


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
