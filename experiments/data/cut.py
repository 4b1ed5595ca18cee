"""Cuts the small data sets of this folder from the whole ones; the README has their sources and
licences.

    python experiments/data/cut.py data --reviews amazonReviewSnippets_GroundTruth.txt

Named entities are copied whole. Units of the others are drawn at random and keep their order:
documents for semantic roles and coreference; paragraphs with all their questions; premises with all
their hypotheses; reviews with all their sentences.
"""

import argparse
import gzip
import itertools
import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from nltk.tokenize import TreebankWordTokenizer

HERE = Path(__file__).resolve().parent
SIZES = {
    "train": {"srl": 400, "coref": 20, "squad": 200, "snli": 600, "sst": 160},
    "dev": {"srl": 150, "coref": 6, "squad": 30, "snli": 150, "sst": 60},
}
"""Sentences, documents, paragraphs, premises and reviews."""
SRL_GENRES = ("answers", "newsgroup", "reviews", "weblog")
"""Without e-mail: it was private."""
COREF_GENRES = ("academic", "bio", "interview", "news", "voyage")
"""Those whose texts are under CC BY or CC BY-SA."""
MAX_PARAGRAPH_WORDS = 80
CLASS_BOUNDS = (-2.0, -0.5, 0.5, 2.0)
"""Between the five classes of sentiment. Ratings go from -4 to 4."""

Unit = TypeVar("Unit")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "source", type=Path, help="a folder with coref, ner_wikigold, nli, qa and srl"
    )
    parser.add_argument(
        "--reviews", type=Path, required=True, help="the rated sentences of reviews"
    )
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--seed", type=int, default=13)
    args = parser.parse_args()
    for part, sizes in SIZES.items():
        files = {
            "srl/{}.gold_conll": srl(args.source / "srl" / part, sizes["srl"], args.seed),
            "coref/{}.gold_conll": coref(args.source / "coref", part, sizes["coref"], args.seed),
            "squad/{}.json": squad(args.source / f"qa/{part}.json", sizes["squad"], args.seed),
            "snli/{}.jsonl": snli(args.source / "nli", part, sizes["snli"], args.seed),
            "sst/{}.txt": reviews(args.reviews, part, sizes["sst"], args.seed),
        }
        for name, text in files.items():
            write(args.out / name.format(part), text)
    for part in ("train", "dev", "test"):
        write(args.out / f"ner/{part}.txt", read(args.source / f"ner_wikigold/{part}.txt"))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def draw(
    units: Iterable[Unit], number: int, seed: int, size: Callable[[Unit], int] = lambda unit: 1
) -> list[Unit]:
    """
    Returns units drawn at random until their sizes add up to `number` or more, in their original
    order.
    """
    units = list(units)
    drawn: list[int] = []
    total = 0
    for place in random.Random(seed).sample(range(len(units)), len(units)):
        if total < number:
            drawn.append(place)
            total += size(units[place])
    return [units[place] for place in sorted(drawn)]


def srl(folder: Path, sentences: int, seed: int) -> str:
    """Returns documents of this number of sentences in all, or a few more."""
    paths = (path for path in sorted(folder.iterdir()) if path.name.partition(".")[0] in SRL_GENRES)
    documents = itertools.chain.from_iterable(conll2012_documents(path) for path in paths)
    return "".join(draw(documents, sentences, seed, size=lambda document: document.count("\n\n")))


def coref(folder: Path, part: str, documents: int, seed: int) -> str:
    """Returns documents of the genres that may be redistributed."""
    (path,) = folder.glob(f"{part}.*")
    start = re.compile(rf"#begin document \(gum/({'|'.join(COREF_GENRES)})_")
    return "".join(draw(filter(start.match, conll2012_documents(path)), documents, seed))


def conll2012_documents(path: Path) -> list[str]:
    """Returns the documents of a file, with no more of each parse than its outermost brackets."""
    documents = re.findall(r"^#begin .*?^#end document\n", read(path), re.DOTALL | re.MULTILINE)
    return ["\n".join(without_parses(document.split("\n"))) for document in documents]


def without_parses(lines: list[str]) -> Iterable[str]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        columns = line.split(" ")
        if line and not line.startswith("#"):
            is_first, is_last = columns[2] == "0", not following
            columns[5] = f"{'(TOP' * is_first}*{')' * is_last}"
        yield " ".join(columns)


def squad(path: Path, paragraphs: int, seed: int) -> str:
    """Returns paragraphs of at most `MAX_PARAGRAPH_WORDS` words, in SQuAD's JSON."""
    titled = (
        (article["title"], paragraph)
        for article in json.loads(read(path))["data"]
        for paragraph in article["paragraphs"]
        if len(paragraph["context"].split()) <= MAX_PARAGRAPH_WORDS
    )
    by_title = itertools.groupby(draw(titled, paragraphs, seed), key=lambda pair: pair[0])
    articles = [
        json.dumps({"title": title, "paragraphs": [each for _, each in group]}, ensure_ascii=False)
        for title, group in by_title
    ]
    return '{"version": "1.1", "data": [\n' + ",\n".join(articles) + "\n]}\n"


def snli(folder: Path, part: str, premises: int, seed: int) -> str:
    """Returns pairs that have a label and an identifier, in SNLI's JSON lines."""
    (path,) = folder.glob(f"{part}.*")
    of_premise: dict[str, list[dict[str, Any]]] = {}
    for line in read(path).splitlines():
        pair = json.loads(line)
        if pair["gold_label"] != "-" and "pairID" in pair:
            kept = {name: pair[name] for name in ("pairID", "gold_label", "sentence1", "sentence2")}
            of_premise.setdefault(pair["sentence1"], []).append(kept)
    pairs = itertools.chain.from_iterable(draw(of_premise.values(), premises, seed))
    return "".join(f"{json.dumps(pair, ensure_ascii=False)}\n" for pair in pairs)


def reviews(path: Path, part: str, number: int, seed: int) -> str:
    """Returns the sentences of reviews, each as a tree. Every fifth review is for development."""
    of_review: dict[str, list[str]] = {}
    for line in read(path).splitlines():
        name, rating, text = line.split("\t")
        label = sum(float(rating) > bound for bound in CLASS_BOUNDS)
        words = TreebankWordTokenizer().tokenize(text)
        if words:
            of_review.setdefault(name.partition("_")[0], []).append(flat_tree(label, words))
    units = list(of_review.values())
    units = (
        units[4::5]
        if part == "dev"
        else [unit for place, unit in enumerate(units) if place % 5 != 4]
    )
    trees = itertools.chain.from_iterable(draw(units, number, seed))
    return "".join(f"{tree}\n" for tree in trees)


def flat_tree(label: int, words: list[str]) -> str:
    """Returns a tree in which only the sentence has a label: words are all neutral."""
    escapes = {"(": "-LRB-", ")": "-RRB-"}
    return f"({label} {' '.join(f'(2 {escapes.get(word, word)})' for word in words)})"


def read(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")


if __name__ == "__main__":
    main()
