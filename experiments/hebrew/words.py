"""Writes the text of the Hebrew Bible and its words with parts of speech, for a biLM and a tagger.

    npm pack morphhb@2.0.2 && tar xf morphhb-2.0.2.tgz
    python experiments/hebrew/words.py package/index.js runs/hebrew

The text (public domain) and its annotation (CC BY 4.0) are the Open Scriptures Hebrew Bible's.
Every 20 chapters have one for dev, the tenth, and one for test, the last. `text` gets a verse on
each line; `tags` gets every 40th verse of train, every 5th of dev and every 2nd of test, with a
word and the part of speech of its main morpheme on each line.
"""

import argparse
import itertools
import json
from collections.abc import Iterable
from pathlib import Path

PARTS = {9: "dev", 19: "test"}
VERSES_PER_TAGGED_VERSE = {"train": 40, "dev": 5, "test": 2}

Verse = list[tuple[str, str, str]]  # each word with its lemma and its morphology


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("source", type=Path, help="index.js of the package morphhb")
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    for folder in ("text", "tags"):
        (args.output / folder).mkdir(parents=True, exist_ok=True)
    for part, verses in split(read(args.source)).items():
        text = "".join(" ".join(word(each[0]) for each in verse) + "\n" for verse in verses)
        (args.output / "text" / f"{part}.txt").write_text(text, encoding="utf-8")
        tagged = (
            "".join(f"{word(each[0])}\t{tag(each[2])}\n" for each in verse) for verse in verses
        )
        every = itertools.islice(tagged, 0, None, VERSES_PER_TAGGED_VERSE[part])
        (args.output / "tags" / f"{part}.tsv").write_text("\n".join(every), encoding="utf-8")


def read(path: Path) -> Iterable[list[Verse]]:
    """Returns the chapters, book after book in the order of their names."""
    script = path.read_text(encoding="utf-8")
    books, _ = json.JSONDecoder().raw_decode(script[script.index("{") :])
    return itertools.chain.from_iterable(books[name] for name in sorted(books))


def split(chapters: Iterable[list[Verse]]) -> dict[str, list[Verse]]:
    """Returns the verses of each part."""
    parts: dict[str, list[Verse]] = {"train": [], "dev": [], "test": []}
    for number, chapter in enumerate(chapters):
        parts[PARTS.get(number % 20, "train")].extend(chapter)
    return parts


def word(morphemes: str) -> str:
    return morphemes.replace("/", "")


def tag(morphology: str) -> str:
    """Returns the letter of the last morpheme that is no suffix; nouns have two letters."""
    morphemes = [each for each in morphology.split("/") if each and not each.startswith("S")] or [
        "X"
    ]
    return morphemes[-1][: 2 if morphemes[-1].startswith("N") else 1]


if __name__ == "__main__":
    main()
