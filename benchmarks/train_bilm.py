"""Tokens per second of training a biLM, here and with AllenNLP's parts: the same sizes, one process.

    python benchmarks/train_bilm.py --size small --json train.json

Our `bilm` model and the same network put together from AllenNLP's `CnnHighwayEncoder`, `ElmoLstm` and
`SampledSoftmaxLoss` take turns. A step is forward, backward, gradient clipping and Adam; the median round
counts. How each figure is measured is described in benchmarks/README.md.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.nn.util import move_to_device
from arithmetic import training_operations
from machine import (
    MEGABYTE,
    device_name,
    in_fresh_process,
    matrix_product_rate,
    peak_memory,
    require,
    seconds,
)
from material import PROSE, SIZES, Sentences, one_sequence, options_of, read_sentences
from peer_bilm import PeerBiLm, peer_batches
from torch import nn
from train_step import train_step
from training import NAMESPACE, frequent_words, make_loader, passes

from elmo_plugin.bilm.characters import BEGIN_SENTENCE_TOKEN, END_SENTENCE_TOKEN, PADDING
from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance
from elmo_plugin.language_model.corpus import read_sentences as read_shard
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.language_model.reader import BiLmTextReader

# The two that are measured, and how the names of their figures begin.
PREFIXES = {"peer": "peer_", "ours": ""}
# Steps in a round, and rounds: a minute or two at the speed of AllenNLP's parts.
EFFORT = {"tiny": (8, 5), "small": (4, 5), "original": (1, 3)}
WORDS = {"tiny": 30_000, "small": 30_000, "original": 793_471}  # in the vocabulary
GRADIENT_NORM = 10.0  # as published
LOADER_TEXT = PROSE.parent / "train-0*.txt.gz"
LOADER_PROCESSES = 2
LOADER_WORDS = 2_000_000  # of a text that is repeated, if the other is missing


class Text(NamedTuple):
    """
    sentences: what both train on
    loader: gives them as batches of two streams
    vocab: with their words
    folder: where files for loaders may be written
    """

    sentences: Sentences
    loader: BiLmStreamLoader
    vocab: Vocabulary
    folder: Path


MATMUL_PRECISION = "medium"  # of ours, as all configurations have it
REPORTED = (
    *("size", "precision", "peer_matmul_precision", "batch_size", "unroll_steps", "negatives"),
    *("vocabulary", "dropout", "steps", "rounds", "threads"),
)


class Subject(NamedTuple):
    """
    model: gives the `loss` of a batch
    batches: its training data, the same in each round
    start_afresh: forgets the state that is carried from batch to batch
    matmul_precision: of torch's float32 products in training
    """

    model: nn.Module
    batches: list[dict[str, Any]]
    start_afresh: Callable[[], None]
    matmul_precision: str


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        text = read_text(args, Path(folder))
        if args.alone:
            subject = load(args.alone, args, text)
            train_round(subject, adam(subject))
            print(json.dumps(peak_memory(args.device)))
            return
        figures = {
            **{name: getattr(args, name) for name in REPORTED},
            "device": device_name(args.device),
            "torch": torch.__version__,
        }
        print(", ".join(f"{name} {value}" for name, value in figures.items()))
        figures["loader_tokens_per_second"] = loader_speed(args, text)
        figures |= memory(args)
        figures |= speed(args, text)
    print(table(figures))
    if args.json:
        write_json(args.json, figures | provenance())


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32", help="of ours")
    parser.add_argument(
        "--peer-matmul-precision",
        choices=["highest", "medium"],
        default="highest",
        help="of torch's float32 products in the peer: torch's default, or as in our configurations",
    )
    parser.add_argument("--batch-size", type=int, default=128, help="streams")
    parser.add_argument("--unroll-steps", type=int, default=20, help="tokens of each stream in a batch")
    parser.add_argument("--negatives", type=int, default=8192, help="words of the sampled softmax")
    parser.add_argument("--vocabulary", type=int, help=f"words; default: {each(WORDS)}")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--steps", type=int, help=f"in a round; default: {effort(0)}")
    parser.add_argument("--rounds", type=int, help=f"default: {effort(1)}")
    parser.add_argument(
        "--text",
        help="a file or pattern, one tokenized sentence per line;\n"
        "by default held-out prose or the NER example",
    )
    parser.add_argument("--loader-seconds", type=float, default=5, help="how long the loader runs; 0: not")
    parser.add_argument("--no-memory", action="store_true", help="leave out the runs for peak memory")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--alone", choices=PREFIXES, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU here")
    require(args.precision, args.device)
    args.vocabulary = args.vocabulary or WORDS[args.size]
    if args.negatives >= args.vocabulary:
        parser.error(f"--negatives must be less than the vocabulary's {args.vocabulary} words")
    steps, rounds = EFFORT[args.size]
    args.steps, args.rounds = args.steps or steps, args.rounds or rounds
    return args


def each(values: dict[str, int]) -> str:
    return ", ".join(f"{value} ({size})" for size, value in values.items())


def effort(number: int) -> str:
    return each({size: values[number] for size, values in EFFORT.items()})


def read_text(args: argparse.Namespace, folder: Path) -> Text:
    """The text, and its words, filled up with invented ones; "padding" and "unknown" are two of them."""
    if args.text:
        sentences = list(chain.from_iterable(map(read_shard, BiLmTextReader().shards(args.text))))
    else:
        sentences = read_sentences()
    loader = stream_loader(args, write_text(sentences, folder / "text.txt"), folder)
    vocab = frequent_words(loader, args.vocabulary - 2)
    for number in range(args.vocabulary - vocab.get_vocab_size(NAMESPACE)):
        vocab.add_token_to_namespace(f"invented word {number}", NAMESPACE)  # no word of a text has blanks
    loader.index_with(vocab)
    return Text(sentences, loader, vocab, folder)


def write_text(sentences: Sentences, path: Path) -> Path:
    path.write_text("".join(f"{' '.join(sentence)}\n" for sentence in sentences), encoding="utf-8")
    return path


def stream_loader(
    args: argparse.Namespace, pattern: Path | str, folder: Path, num_workers: int = 0
) -> BiLmStreamLoader:
    config = {
        "type": "bilm_stream",
        "batch_size": args.batch_size,
        "unroll_steps": args.unroll_steps,
        "num_workers": num_workers,
        "max_characters_per_token": options_of(args.size).char_cnn.max_characters_per_token,
    }
    return make_loader(config, str(pattern), str(folder))


def loader_speed(args: argparse.Namespace, text: Text) -> float | None:
    """Tokens per second and direction of the loader alone, with its own processes, after the first batch."""
    if not args.loader_seconds:
        return None
    pattern: Path | str
    if args.text or list(LOADER_TEXT.parent.glob(LOADER_TEXT.name)):
        pattern = args.text or LOADER_TEXT
    else:
        copies = -(-LOADER_WORDS // sum(map(len, text.sentences)))
        pattern = write_text(text.sentences * copies, text.folder / "repeated.txt")
    tokens, passed = 0, 0.0
    loader = stream_loader(args, pattern, text.folder, LOADER_PROCESSES)
    loader.index_with(text.vocab)
    with closing(passes(loader)) as batches:
        next(batches)
        start = time.perf_counter()
        while passed < args.loader_seconds:
            tokens += int(next(batches)["forward_targets"].count_nonzero())
            passed = time.perf_counter() - start
    return tokens / passed


def load(name: str, args: argparse.Namespace, text: Text) -> Subject:
    """One of the two, with random weights, and as many batches of the text as a round has steps."""
    torch.manual_seed(0)
    np.random.seed(0)  # the sampler of AllenNLP's softmax draws from it
    subject = load_peer(args, text) if name == "peer" else load_ours(args, text)
    subject.model.to(args.device)
    device = torch.device(args.device)
    return subject._replace(batches=[move_to_device(batch, device) for batch in subject.batches])


def load_ours(args: argparse.Namespace, text: Text) -> Subject:
    model = BiLmLanguageModel(
        text.vocab,
        options_of(args.size).to_dict(),
        dropout=args.dropout,
        num_negatives=args.negatives,
        namespace=NAMESPACE,
        precision=args.precision,
    )
    with closing(passes(text.loader)) as batches:
        taken = list(islice(batches, args.steps))
    # The first batch says that the streams begin there.
    return Subject(model, taken, lambda: None, MATMUL_PRECISION)


def load_peer(args: argparse.Namespace, text: Text) -> Subject:
    options = options_of(args.size)
    model = PeerBiLm(options, args.vocabulary, args.negatives, args.dropout)
    bounded = [[BEGIN_SENTENCE_TOKEN, *sentence, END_SENTENCE_TOKEN] for sentence in text.sentences]
    words = one_sequence(bounded, args.batch_size * (args.steps * args.unroll_steps + 2))
    numbers = [text.vocab.get_token_index(word, NAMESPACE) for word in words]
    slots = options.char_cnn.max_characters_per_token
    batches = peer_batches(words, numbers, args.batch_size, args.unroll_steps, slots)
    return Subject(model, batches, model.start_afresh, args.peer_matmul_precision)


def adam(subject: Subject) -> torch.optim.Optimizer:
    weights = list(subject.model.parameters())
    return torch.optim.Adam(weights, fused=weights[0].is_cuda)


def train_round(subject: Subject, optimizer: torch.optim.Optimizer) -> None:
    torch.set_float32_matmul_precision(subject.matmul_precision)
    subject.start_afresh()
    for batch in subject.batches:
        train_step(subject.model, optimizer, batch, GRADIENT_NORM)


def memory(args: argparse.Namespace) -> dict[str, float | None]:
    """Peak memory of each of the two, alone in a process that trains for one round."""
    figures: dict[str, float | None] = {f"{prefix}peak_memory_mb": None for prefix in PREFIXES.values()}
    if args.no_memory:
        return figures
    passed_on = ["size", "precision", "batch_size", "unroll_steps", "negatives", "vocabulary", "dropout"]
    options: list[object] = ["--text", args.text] if args.text else []
    for name in [*passed_on, "peer_matmul_precision", "device", "threads", "steps"]:
        options += [f"--{name.replace('_', '-')}", getattr(args, name)]
    for name, prefix in PREFIXES.items():
        figures[f"{prefix}peak_memory_mb"] = in_fresh_process(__file__, *options, "--alone", name) / MEGABYTE
    return figures


def speed(args: argparse.Namespace, text: Text) -> dict[str, Any]:
    """The median round of each of the two, in turns, after a first round that is not counted."""
    subjects = {name: load(name, args, text) for name in PREFIXES}
    optimizers = {name: adam(subject) for name, subject in subjects.items()}
    first_losses = {
        name: subject.model(**subject.batches[0])["loss"].item() for name, subject in subjects.items()
    }
    times: dict[str, list[float]] = {name: [] for name in PREFIXES}
    for _ in range(args.rounds + 1):
        for name, subject in subjects.items():
            times[name].append(seconds(partial(train_round, subject, optimizers[name]), args.device))
    times = {name: rounds[1:] for name, rounds in times.items()}
    tokens = args.steps * args.batch_size * args.unroll_steps
    ratios = [peer / ours for peer, ours in zip(times["peer"], times["ours"], strict=True)]
    words = [len(batch["character_ids"]) for batch in subjects["ours"].batches]
    return {
        **{
            f"{prefix}tokens_per_second": tokens / statistics.median(times[name])
            for name, prefix in PREFIXES.items()
        },
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 3) for ratio in ratios],
        **{f"{prefix}first_loss": first_losses[name] for name, prefix in PREFIXES.items()},
        "distinct_words_per_batch": statistics.median(words),
        **share(args, subjects["ours"].batches, tokens / statistics.median(times["ours"])),
    }


def share(args: argparse.Namespace, batches: list[dict[str, Any]], rate: float) -> dict[str, float]:
    """Our needed operations per second over the machine's best matrix product in our precision."""
    needed = sum(
        training_operations(
            options_of(args.size),
            characters=(batch["character_ids"] != PADDING).sum(dim=1).tolist(),
            steps=batch["forward_types"].numel(),
            targets=sum(int(batch[f"{way}_targets"].count_nonzero()) for way in ("forward", "backward")),
            negatives=args.negatives,
        )
        for batch in batches
    )
    per_token = needed / (args.steps * args.batch_size * args.unroll_steps)
    peak = matrix_product_rate(args.precision, args.device)
    return {
        "operations_per_token": per_token,
        "peak_operations_per_second": peak,
        "share_of_peak": per_token * rate / peak,
    }


def table(figures: dict[str, Any]) -> str:
    """Yields a line for each of the two, and our other figures."""
    labels = {"peer": "AllenNLP's parts float32", "ours": f"elmo_plugin {figures['precision']}"}
    lines = [f"{'':28}{'tokens/s':>12}{'ratio':>8}{'memory, MB':>12}{'first loss':>12}"]
    for name, prefix in PREFIXES.items():
        rate, memory_mb, loss = (
            figures[prefix + figure] for figure in ("tokens_per_second", "peak_memory_mb", "first_loss")
        )
        ratio = figures["ratio"] if name == "ours" else 1
        held = "-" if memory_mb is None else f"{memory_mb:,.0f}"
        lines.append(f"{labels[name]:28}{rate:>12,.0f}{ratio:>8.2f}{held:>12}{loss:>12.3f}")
    lines.append(f"ratio, round by round: {figures['ratios']}")
    lines.append(f"distinct words of a batch: {figures['distinct_words_per_batch']:,.0f}")
    lines.append(f"of the best matrix product in {figures['precision']}: {figures['share_of_peak']:.1%}")
    if figures["loader_tokens_per_second"]:
        lines.append(f"loader alone: {figures['loader_tokens_per_second']:,.0f} tokens/s")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
