"""Counts the words of a table of static vectors in the texts that they were trained on.

    python experiments/word_counts.py data/lm/train-*.txt.gz data/lm2/train-*.txt.gz

writes `counts.safetensors` beside the bundled table `english`: how often each of its words occurs,
in the order of the table, and the number of all words. `pooling="sif"` of `BiLm.encode` weighs
words by these counts. It takes a minute.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from allennlp.common.checks import ConfigurationError
from safetensors.torch import load_file, save

from elmo_plugin.bilm.word_frequencies import COUNTS_NAME
from elmo_plugin.common.bundled import BUNDLED
from elmo_plugin.common.files import atomic_write
from elmo_plugin.tasks import read_text_lines

TABLE = BUNDLED / "words" / "english"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "texts",
        nargs="+",
        metavar="TEXT",
        help="tokenized, one sentence per line; plain, .gz or .zst",
    )
    parser.add_argument(
        "--table", type=Path, default=TABLE, help="the folder of the table (default: english's)"
    )
    args = parser.parse_args()
    total = write_counts(args.texts, args.table)
    print(f"counted {total:,} words")


def write_counts(texts: Sequence[str], table: Path) -> int:
    """
    Writes the counts, and returns the number of all words. Raises `ConfigurationError` if a word of
    the table is in none of the texts, because they are then not its texts.
    """
    content = load_file(table / "vectors.safetensors")
    words = bytes(content["words"].tolist()).decode().split("\n")
    counts = count_words(texts)
    missing = [word for word in words if counts[word] == 0]
    if missing:
        raise ConfigurationError(f"{table}: the texts do not contain {missing[0]!r}")
    total = counts.total()
    tensors = {
        "counts": torch.tensor([counts[word] for word in words], dtype=torch.int32),
        "total": torch.tensor(total),
    }
    with atomic_write(table / COUNTS_NAME) as temporary:
        temporary.write_bytes(save(tensors))
    return total


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Returns how often each word occurs in texts with spaces between the words."""
    counts: Counter[str] = Counter()
    for text in texts:
        for line in read_text_lines(text):
            counts.update(line.text.split())
    return counts


if __name__ == "__main__":
    main()
