"""What a user would pick instead of the bundled models, on their data: spaCy, a CRF, and a lexicon.

    uv run python experiments/bundled/instead.py spacy
    uv run --with sklearn-crfsuite python experiments/bundled/instead.py crf
    uv run python experiments/bundled/instead.py lexicon

Run it where build.py was run.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ner_data import read_tagged

RUNS, DATA = Path("runs/models"), Path("data")
NEGATIONS = {"not", "no", "never", "n't", "nothing", "nobody", "cannot"}
KINDS = ("PER", "LOC", "ORG")


def features(words: list[str], index: int) -> dict[str, Any]:
    """Returns hand features of a word and its neighbours: form, case, prefix, suffix and shape."""
    found: dict[str, Any] = {"bias": 1.0}
    for step in (-2, -1, 0, 1, 2):
        if 0 <= index + step < len(words):
            word = words[index + step]
            found |= {f"{step}:lower": word.lower(), f"{step}:title": word.istitle()}
            found[f"{step}:upper"] = word.isupper()
        else:
            found[f"{step}:end"] = True
    word = words[index]
    shape = re.sub(r"\d", "9", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", word)))
    return found | {"prefix": word[:3], "suffix": word[-3:], "suffix2": word[-2:], "shape": shape}


def names_in(tags: list[str], kinds: tuple[str, ...]) -> set[tuple[str, int, int]]:
    """Returns kind, start and end of each name in BIO tags."""
    names, start = set(), None
    for index, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            names.add((tags[start][2:], start, index))
            start = None
        if tag.startswith("B-"):
            start = index
    return {name for name in names if name[0] in kinds}


def crf() -> dict[str, float]:
    """Trains a CRF on the tagger's sentences. Returns F1 on each test set."""
    import sklearn_crfsuite

    def inputs(words: list[str]) -> list[dict[str, Any]]:
        return [features(words, index) for index in range(len(words))]

    model = sklearn_crfsuite.CRF(c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    sentences = [zip(*sentence, strict=True) for sentence in read_tagged(RUNS / "ner/train.txt")]
    words, tags = zip(*sentences, strict=True)
    model.fit([inputs(each) for each in words], tags)
    return name_scores(lambda words: model.predict_single(inputs(words)))


def spacy_tagger() -> dict[str, float]:
    """
    Trains spaCy's recognizer, without vectors, on the tagger's sentences. Returns F1 on each test
    set.

    It has the configuration of `spacy init config --lang en --pipeline ner --optimize efficiency`.
    """
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train
    from spacy.tokens import Doc, DocBin

    folder, vocabulary = RUNS / "ner_spacy", spacy.blank("en").vocab
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev"):
        docs = DocBin()
        for sentence in read_tagged(RUNS / f"ner/{part}.txt"):
            words, tags = zip(*sentence, strict=True)
            docs.add(Doc(vocabulary, words=list(words), ents=list(tags)))
        docs.to_disk(folder / f"{part}.spacy")
    init_config(lang="en", pipeline=["ner"], optimize="efficiency").to_disk(folder / "config.cfg")
    paths = {f"paths.{part}": str(folder / f"{part}.spacy") for part in ("train", "dev")}
    train(folder / "config.cfg", folder, overrides=paths)
    model = spacy.load(folder / "model-best")

    def tags_of(words: list[str]) -> list[str]:
        doc = model(Doc(model.vocab, words=words))
        return [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc]

    return name_scores(tags_of)


def name_scores(tags_of: Callable[[list[str]], list[str]]) -> dict[str, float]:
    """Returns F1 of names on each test set, of a function from words to their BIO tags."""
    tests = {
        "Wikigold test": (DATA / "ner_wikigold/test.txt", (*KINDS, "MISC")),
        "PUD dev, without other kinds": (DATA / "ner_more/pud/dev.txt", KINDS),
    }
    scores = {}
    for name, (file, kinds) in tests.items():
        both = total = 0
        for sentence in read_tagged(file):
            right = names_in([tag for _, tag in sentence], kinds)
            found = names_in(tags_of([word for word, _ in sentence]), kinds)
            both, total = both + len(right & found), total + len(right) + len(found)
        scores[name] = 200 * both / total
    return scores


def lexicon() -> dict[str, float]:
    """
    Adds the ratings of words, turned after a negation. Returns % correct, positive against
    negative.
    """
    ratings = {}
    for line in (DATA / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines():
        word, rating = line.split("\t")[:2]
        if word.isalpha() and word.islower():
            ratings[word] = float(rating)
    scores = {}
    for file in [*sorted((RUNS / "sst").glob("*_*.jsonl")), RUNS / "sst/test.jsonl"]:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if row["label"] != "neutral"]
        right = sum(
            (side(row["text"], ratings) >= 0) == (row["label"] == "positive") for row in rows
        )
        scores[file.stem] = 100 * right / len(rows)
    return scores


def side(text: str, ratings: dict[str, float]) -> float:
    """Returns the sum of the ratings of a text's words."""
    words = re.findall(r"[a-z']+", text.lower().replace("n't", " n't"))
    return sum(
        -ratings.get(word, 0)
        if NEGATIONS & {*words[max(0, index - 3) : index]}
        else ratings.get(word, 0)
        for index, word in enumerate(words)
    )


if __name__ == "__main__":
    for test, score in {"spacy": spacy_tagger, "crf": crf, "lexicon": lexicon}[
        sys.argv[1]
    ]().items():
        print(f"{test}: {score:.1f}")
