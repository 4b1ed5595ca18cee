"""Tokens per second of an epoch of ELMo with an activation cache, and computed each time.

    python benchmarks/cache.py --size original --json cache.json

Character ids in, mixed layers out, over the batches of an epoch on the train part of SNLI, in
float32. benchmarks/README.md describes the measurement and names the figures.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.data.samplers import BucketBatchSampler
from material import REPOSITORY, model_files, write_model
from run import conditions, make_parser, rates, report, take_turns
from torch import Tensor

from elmo_plugin import plugin  # noqa: F401 (registers all)
from elmo_plugin.bilm import BiLm, sentences_to_character_ids
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.embedding.cache import ActivationCache, MemoryCache, SqliteCache

SHARED = REPOSITORY.parent / "shared" / "data" / "nli" / "train.jsonl.gz"
EXAMPLE = REPOSITORY / "experiments" / "data" / "snli" / "train.jsonl"
MAX_GB = 100.0
# By the prefix of their figures.
CACHES: dict[str, Callable[[str], ActivationCache]] = {
    "float16_": lambda folder: SqliteCache(f"{folder}/float16", MAX_GB, "float16"),
    "float32_": lambda folder: SqliteCache(f"{folder}/float32", MAX_GB),
    "memory_": lambda _: MemoryCache(MAX_GB),
}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        write_model(args.size, Path(folder))
        report(conditions(args, "size", "batch_size", "rounds") | measure(args, folder), args.json)


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, "text")
    parser.set_defaults(rounds=3)
    parser.add_argument("--sentences", type=int, help="this many, two a pair (default: all)")
    parser.add_argument("--batch-size", type=int, default=32, help="pairs in a batch")
    parser.add_argument("--folder", type=Path, help="folder of the caches (default: the system's)")
    return parser.parse_args()


def measure(args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Computing and each cache take turns, with the words' vectors known and the caches full."""
    batches = read_batches(args)
    sentences = [row[row.any(dim=1)] for batch in batches for row in batch]
    tokens = sum(map(len, sentences))
    bilm = BiLm.from_files(*model_files(Path(folder)))
    caches = {"": None, **{prefix: make(folder) for prefix, make in CACHES.items()}}
    works = {
        prefix: partial(pass_over, ElmoRepresentations(bilm, cache=cache).eval(), batches)
        for prefix, cache in caches.items()
    }
    with torch.inference_mode():
        figures = rates(take_turns(works, args.rounds), tokens)
    for prefix in CACHES:
        ratio = figures[f"{prefix}tokens_per_second"] / figures["tokens_per_second"]
        figures[f"{prefix}ratio"] = ratio
    return {
        "sentences": len(sentences),
        "distinct_sentences": len({sentence.numpy().tobytes() for sentence in sentences}),
        "words_per_sentence": round(tokens / len(sentences), 1),
        **figures,
    }


def read_batches(args: argparse.Namespace) -> list[Tensor]:
    """
    The character ids of premises and hypotheses, together as the model of the task reads them.
    """
    reader = DatasetReader.from_params(Params({"type": "snli_jsonl", "token_indexers": {}}))
    file = SHARED if SHARED.exists() else EXAMPLE
    pairs = list(
        islice(reader.read(str(file)), None if args.sentences is None else args.sentences // 2)
    )
    sampler = BucketBatchSampler(args.batch_size, sorting_keys=["premise", "hypothesis"])
    return [
        torch.from_numpy(
            sentences_to_character_ids(
                [
                    [token.text for token in pairs[number][field]]
                    for field in ("premise", "hypothesis")
                    for number in numbers
                ]
            )
        )
        for numbers in sampler.get_batch_indices(pairs)
    ]


def pass_over(embed: Callable[[Tensor], Any], batches: list[Tensor]) -> None:
    for batch in batches:
        embed(batch)


if __name__ == "__main__":
    main()
