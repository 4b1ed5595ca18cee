"""Writes the training data of `srl_predicates`: EWT, and sentences with nouns that look like
verbs.
"""

import shutil
from pathlib import Path

HERE = Path(__file__).parent


def write(data: Path, folder: Path) -> None:
    """Writes the folder `train`."""
    shutil.copytree(data / "srl/train", folder / "train", dirs_exist_ok=True)
    lines = (HERE / "predicates.txt").read_text(encoding="utf-8").splitlines()
    sentences = "\n".join(map(columns, lines))
    document = f"#begin document (made/predicates); part 000\n{sentences}\n#end document\n"
    (folder / "train/made.gold_conll").write_text(document, encoding="utf-8")


def columns(sentence: str) -> str:
    """Returns a sentence, in which `*` marks predicates, in the columns of CoNLL-2012."""
    parts = sentence.split()
    predicates = [number for number, part in enumerate(parts) if part[0] == "*" and len(part) > 1]
    rows = []
    for number, part in enumerate(parts):
        word = part[1:] if number in predicates else part
        sense = f"{word.lower()} 01" if number in predicates else "- -"
        roles = "".join("(V*) " if number == predicate else "* " for predicate in predicates)
        rows.append(f"made/predicates 0 {number} {word} XX * {sense} - - * {roles}-\n")
    return "".join(rows)
