"""Writes the data of the bundled inference model: SNLI, pairs made from it by WordNet, and written
pairs.
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from inference_pairs import (
    CLAUSE,
    CONTRADICTS,
    ENTAILS,
    NEUTRAL,
    Pair,
    negations,
    participles,
    passives,
    shortened,
    swaps,
)
from pair_patterns import pairs as pairs_of_patterns
from wordnet import WordNet

HERE = Path(__file__).parent
SEED = 13
HELD_OUT = 60  # of the pairs that were written for this; those with their premises are for dev
COPIES = 2  # of the others, for training
PATTERNS = {"overlap": 5_400, "opposites": 1_800}  # files of patterns, and pairs made of them
PATTERNS_OF_DEV = {"overlap": 600, "opposites": 300}
REPEATED = {"train": 10_000, "dev": 1_500}  # pairs of the first training, in the second one too
NUMBERS = {  # of made pairs of each kind
    f"swap {ENTAILS}": 1500,
    f"swap {NEUTRAL}": 700,
    f"swap {CONTRADICTS}": 1800,
    "passive": 1200,
    "short": 1200,
    f"negation {ENTAILS}": 400,
    f"negation {NEUTRAL}": 900,
    f"negation {CONTRADICTS}": 1500,
    "unrelated": 1000,
    "same": 200,
}


def write(data: Path, folder: Path) -> None:
    """
    Writes `train.jsonl` and `dev.jsonl`, each with pairs made from its own sentences, and written
    ones; and for the second training `more.jsonl`, `dev_more.jsonl`, and a file of each kind in it.
    """
    lines = (HERE / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    written = [Pair(*line.split("\t")) for line in lines]
    held_out = {pair.premise for pair in written[:HELD_OUT]}
    written_of = {"dev": [pair for pair in written if pair.premise in held_out]}
    parts: dict[str, list[Pair]] = {}
    written_of["train"] = [pair for pair in written if pair.premise not in held_out] * COPIES
    for part, share in (("train", 1.0), ("dev", 0.1)):
        (file,) = (data / "nli").glob(f"{part}.jsonl*")
        with (
            gzip.open(file, "rt", encoding="utf-8")
            if file.suffix == ".gz"
            else file.open(encoding="utf-8") as text
        ):
            rows = [row for row in map(json.loads, text) if row["gold_label"] != "-"]
        pairs = [Pair(row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows]
        made = made_pairs(pairs, share, data / "wordnet", random.Random(SEED))
        parts[part] = pairs + made + written_of[part]
        write_pairs(folder / f"{part}.jsonl", parts[part])
    generator = random.Random(SEED)
    more = generator.sample(parts["train"], REPEATED["train"])
    for name, number in PATTERNS.items():
        more += pairs_of_patterns(HERE / f"{name}.txt", number, generator)
    write_pairs(folder / "more.jsonl", more)
    dev_more = generator.sample(parts["dev"], REPEATED["dev"])
    for name, number in PATTERNS_OF_DEV.items():
        kind = pairs_of_patterns(HERE / f"dev_{name}.txt", number, generator)
        write_pairs(folder / f"dev_{name}.jsonl", kind)
        dev_more += kind
    write_pairs(folder / "dev_more.jsonl", dev_more)


def write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = (
        {"sentence1": pair.premise, "sentence2": pair.hypothesis, "gold_label": pair.label}
        for pair in pairs
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def made_pairs(
    pairs: list[Pair], share: float, folder: Path, generator: random.Random
) -> list[Pair]:
    """
    Returns a share of `NUMBERS`, made from the sentences of pairs; half of them end in a full stop.
    """
    plain = [Pair(bare(pair.premise), bare(pair.hypothesis), pair.label) for pair in pairs]
    texts = [text for pair in plain for text in pair[:2]]
    counts = Counter(word for text in texts for word in text.lower().replace(",", " ").split())
    wordnet = WordNet(
        folder, {word for word, count in counts.items() if count >= 3 and word.isalpha()}
    )
    participle = participles(folder)
    captions = [
        text for text in dict.fromkeys(texts) if 4 <= len(text.split()) <= 16 and text.isascii()
    ]
    made: dict[str, list[Pair]] = defaultdict(list)
    for caption in captions:
        for pair in swaps(caption, wordnet, generator):
            made[f"swap {pair.label}"].append(pair)
        made["passive"] += passives(caption, participle, generator)
        made["short"] += shortened(caption, generator)
    for source in plain:
        for pair in negations(source, generator):
            made[f"negation {pair.label}"].append(pair)
    clauses = [
        caption for caption in captions if CLAUSE.fullmatch(caption) and len(caption.split()) <= 10
    ]
    made["unrelated"] = [
        Pair(*generator.sample(clauses, 2), NEUTRAL) for _ in range(NUMBERS["unrelated"])
    ]
    made["same"] = [Pair(clause, clause, ENTAILS) for clause in clauses]
    found = []
    for kind, number in NUMBERS.items():
        for pair in generator.sample(made[kind], min(int(share * number), len(made[kind]))):
            stop = "." if generator.random() < (0.2 if kind == "unrelated" else 0.5) else ""
            change = generator.choices((str, str.upper, str.lower), (90, 4, 6))[0]
            found.append(
                Pair(change(pair.premise + stop), change(pair.hypothesis + stop), pair.label)
            )
    return found


def bare(text: str) -> str:
    return text.strip().rstrip(".").strip()
