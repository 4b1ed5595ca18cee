"""Writes the data of the bundled coreference model: OntoGUM, LitBank, and documents made from patterns."""

import gzip
import random
import sys
from pathlib import Path

from ner_data import Names, read_names

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "data"))
import cut  # noqa: E402

SEED = 13
COPIES = 3  # of each pattern, with other names


def write(data: Path, folder: Path) -> None:
    """Writes `train.gold_conll` and `dev.gold_conll`; of OntoGUM only what may be redistributed."""
    gum = {part: cut.coref(data / "coref", part, documents=10**9, seed=SEED) for part in ("train", "dev")}
    with gzip.open(data / "coref_litbank/train.gold_conll.gz", "rt", encoding="utf-8") as lines:
        novels = lines.read()
    dev = (data / "coref_litbank/dev.gold_conll").read_text(encoding="utf-8")
    generator, names = random.Random(SEED), read_names(HERE / "names.tsv")
    patterns = (HERE / "documents.txt").read_text(encoding="utf-8").splitlines() * COPIES
    made = [
        made_document(pattern, f"made{number}", names, generator) for number, pattern in enumerate(patterns)
    ]
    cut.write(folder / "train.gold_conll", gum["train"] + novels + "".join(made))
    cut.write(folder / "dev.gold_conll", gum["dev"] + dev)


def made_document(pattern: str, name: str, names: Names, generator: random.Random) -> str:
    """
    Returns a pattern as a document in the columns of CoNLL-2012. `[1 She]` is a mention in chain 1; a kind of
    name in braces is the same last name, and another first name, each time.
    """
    last = generator.choice(names["LAST"])
    people = {kind: generator.sample(names[kind], 2) for kind in ("WOMAN", "MAN")}
    lines: list[tuple[str, str]] = []
    chains: list[str] = []
    opened = ""
    for part in pattern.split():
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
        word = last if word == "{LAST}" else people[word.strip("{}")].pop() if word.startswith("{") else word
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
