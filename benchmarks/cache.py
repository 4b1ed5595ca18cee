"""Epochs of embedding with an activation cache, and without.

    python benchmarks/cache.py --size original --json cache.json
    python benchmarks/cache.py --task ner --json cache_ner.json

snli  Tokens per second of ELMo (character ids in, mixed layers out) over the batches of an epoch on the
      train part of SNLI: computed each time, with our fastest way in float32, and read from each cache.
ner   Seconds of an epoch of training the tagger of experiments/ner_elmo.jsonnet, computed and cached.

benchmarks/README.md describes the measurements and names the figures.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.data.samplers import BucketBatchSampler
from allennlp.training import TrainerCallback
from figures import report
from machine import seconds
from material import REPOSITORY, SIZES, model_files, write_model
from overrides import overrides
from torch import Tensor

from elmo_plugin import plugin  # noqa: F401 (registers all)
from elmo_plugin.bilm import BiLm, BiLmOutput, sentences_to_character_ids
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.embedding.cache import ActivationCache, MemoryCache, SqliteCache

SHARED = REPOSITORY.parent / "shared" / "data"
EXAMPLES = REPOSITORY / "experiments" / "data"
NER = SHARED / "ner" if (SHARED / "ner").exists() else EXAMPLES / "ner"
MAX_GB = 100.0
# The one whose figures have no prefix, and the others.
CACHES: dict[str, Callable[[str], ActivationCache]] = {
    "": lambda folder: SqliteCache(f"{folder}/float16", MAX_GB, "float16"),
    "float32_": lambda folder: SqliteCache(f"{folder}/float32", MAX_GB),
    "memory_": lambda _: MemoryCache(MAX_GB),
}


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    figures = {"task": args.task, "size": args.size, "threads": args.threads, "torch": torch.__version__}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        write_model(args.size, Path(folder))
        figures |= TASKS[args.task](args, folder)
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--task", choices=TASKS, default="snli")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="all but tiny: random weights")
    parser.add_argument("--sentences", type=int, help="of snli: this many, two a pair (default: all)")
    parser.add_argument("--batch-size", type=int, default=32, help="pairs in a batch of snli")
    parser.add_argument("--data", type=Path, default=NER, help="of ner: the folder of train.txt and dev.txt")
    parser.add_argument("--rounds", type=int, default=3, help="epochs that are measured")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--folder", type=Path, help="folder of the caches (default: the system's)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def measure_snli(args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Computing and each cache take all rounds one after the other, with the words' vectors known."""
    batches = read_batches(args)
    sentences = [row[row.any(dim=1)] for batch in batches for row in batch]
    tokens = sum(map(len, sentences))
    distinct = {sentence.numpy().tobytes() for sentence in sentences}
    bilm = BiLm.from_files(*model_files(Path(folder)))
    rates: dict[str, float] = {}
    with torch.inference_mode():
        epoch = partial(pass_over, ElmoRepresentations(bilm).eval(), batches)
        rates["tokens_per_second"] = rate(epoch, tokens, args.rounds)
        for prefix, make in CACHES.items():
            cache = make(folder)
            epoch = partial(pass_over, ElmoRepresentations(bilm, cache=cache).eval(), batches)
            rates[f"{prefix}cached_tokens_per_second"] = rate(epoch, tokens, args.rounds)
            epoch = partial(pass_over, partial(read_through, cache, bilm), batches)
            rates[f"{prefix}read_tokens_per_second"] = rate(epoch, tokens, args.rounds)
            rates[f"{prefix}ratio"] = rates[f"{prefix}cached_tokens_per_second"] / rates["tokens_per_second"]
    return {
        "sentences": len(sentences),
        "distinct_sentences": len(distinct),
        "words_per_sentence": round(tokens / len(sentences), 1),
        "all_sentences": args.sentences is None,
        "batch_size": args.batch_size,
        "rounds": args.rounds,
        **rates,
        **{f"{prefix}gigabytes": size / 1e9 for prefix, size in file_sizes(folder).items()},
    }


def read_batches(args: argparse.Namespace) -> list[Tensor]:
    """The character ids of premises and hypotheses, together as the model of the task reads them."""
    reader = DatasetReader.from_params(Params({"type": "snli_jsonl", "token_indexers": {}}))
    file = SHARED / "nli" / "train.jsonl.gz"
    file = file if file.exists() else EXAMPLES / "snli" / "train.jsonl"
    pairs = list(islice(reader.read(str(file)), None if args.sentences is None else args.sentences // 2))
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


def read_through(cache: ActivationCache, bilm: BiLm, batch: Tensor) -> BiLmOutput:
    compute, digest = bilm, bilm.digest()
    return cache.run(compute, digest, batch, bilm.num_layers, bilm.output_dim)


def pass_over(embed: Callable[[Tensor], Any], batches: list[Tensor]) -> None:
    for batch in batches:
        embed(batch)


def rate(epoch: Callable[[], None], tokens: int, rounds: int) -> float:
    """Tokens per second of the median round, after a first one that fills the caches."""
    epoch()
    return tokens / statistics.median(seconds(epoch) for _ in range(rounds))


def file_sizes(folder: str) -> dict[str, int]:
    return {
        prefix: (Path(folder) / dtype / "activations.sqlite").stat().st_size
        for prefix, dtype in {"": "float16", "float32_": "float32"}.items()
    }


@TrainerCallback.register("benchmark_clock")
class Clock(TrainerCallback):
    """Notes when epochs end."""

    times: list[float]

    @overrides
    def on_start(self, *args: Any, **kwargs: Any) -> None:
        Clock.times = [time.perf_counter()]

    @overrides
    def on_epoch(self, *args: Any, **kwargs: Any) -> None:
        Clock.times.append(time.perf_counter())


def measure_ner(args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """The first epoch fills the cache and is reported separately from the median of the others."""
    caches = {"": None, "cached_": {"type": "sqlite", "path": f"{folder}/float16", "dtype": "float16"}}
    figures: dict[str, Any] = {"rounds": args.rounds}
    for prefix, cache in caches.items():
        train_model(ner_config(args, folder, cache), f"{folder}/{prefix}run", file_friendly_logging=True)
        epochs = [end - start for start, end in zip(Clock.times, Clock.times[1:], strict=False)]
        figures[f"{prefix}first_epoch_seconds"] = epochs[0]
        figures[f"{prefix}epoch_seconds"] = statistics.median(epochs[1:])
    figures["ratio"] = figures["epoch_seconds"] / figures["cached_epoch_seconds"]
    return figures


def ner_config(args: argparse.Namespace, folder: str, cache: dict[str, str] | None) -> Params:
    options, weights = map(str, model_files(Path(folder)))
    elmo = "model.contextual_encoder.elmo"
    overrides = {
        "train_data_path": str(args.data / "train.txt"),
        "validation_data_path": str(args.data / "dev.txt"),
        "trainer.num_epochs": 1 + args.rounds,
        "trainer.callbacks": ["benchmark_clock"],
        f"{elmo}.bilm": {"options": options, "weights": weights},
        f"{elmo}.cache": cache,
    }
    return Params.from_file(REPOSITORY / "experiments" / "ner_elmo.jsonnet", json.dumps(overrides))


TASKS = {"snli": measure_snli, "ner": measure_ner}

if __name__ == "__main__":
    main()
