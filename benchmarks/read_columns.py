"""Speed of reading CoNLL-2003-like columns, next to a reader that only splits lines and makes instances.

python benchmarks/read_columns.py --json read_columns.json
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from allennlp.data import Instance
from allennlp.data.fields import MetadataField, SequenceLabelField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.tasks.ner import Conll2003Reader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sentences", type=int, default=14_000, help="as CoNLL-2003's training data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, help="as in all programs; reading uses one")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    args = parser.parse_args()
    reader = Conll2003Reader({"tokens": SingleIdTokenIndexer()})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.txt"
        words = write_columns(path, args.sentences)
        times = [
            (seconds(lambda: list(reader.read(path))), seconds(lambda: list(read_plainly(path))))
            for _ in range(args.rounds + 1)
        ][1:]
    ours, peer = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = [theirs / mine for mine, theirs in times]
    figures = {
        "words_per_second": words / ours,
        "peer_words_per_second": words / peer,
        "ratio": statistics.median(ratios),
        "ratios": ratios,
    }
    print("  ".join(f"{name} {figure}" for name, figure in figures.items()))
    if args.json:
        write_json(args.json, {"words": words, **provenance(), **figures})


def write_columns(path: Path, sentences: int) -> int:
    """Writes sentences of random words, a tenth of them in entities, and returns the number of words."""
    generator = random.Random(0)
    lines = []
    for _ in range(sentences):
        for _ in range(generator.randint(5, 25)):
            word, kind = generator.randrange(20_000), generator.choice(["PER", "LOC", "ORG", "MISC"])
            tag = f"B-{kind}" if generator.random() < 0.1 else "O"
            lines.append(f"w{word} NN I-NP {tag}\n")
        lines.append("\n")
    path.write_text("".join(lines), encoding="utf-8")
    return len(lines) - sentences


def read_plainly(path: Path) -> Iterator[Instance]:
    """Yields instances of four columns, without a check."""
    indexers = {"tokens": SingleIdTokenIndexer()}
    with path.open(encoding="utf-8") as file:
        for has_words, rows in groupby((line.split() for line in file), key=bool):
            if has_words:
                words, _, _, tags = zip(*rows, strict=True)
                text = TextField([Token(word) for word in words], indexers)
                metadata = {"words": MetadataField(list(words)), "gold_tags": MetadataField(list(tags))}
                yield Instance({"tokens": text, "tags": SequenceLabelField(list(tags), text), **metadata})


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
