"""Tokens per second of training a biLM, here and with AllenNLP's parts: the same sizes, one
process.

    python benchmarks/train_bilm.py --size small --json train.json

Our `bilm` model and the same network put together from AllenNLP's `CnnHighwayEncoder`, `ElmoLstm`
and `SampledSoftmaxLoss` take turns; without AllenNLP, the same computation of ours is measured
alone. A step is forward, backward, gradient clipping and Adam; the median round counts. How each
figure is measured is described in benchmarks/README.md.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import chain, cycle, islice
from typing import Any, NamedTuple

import numpy as np
import torch
from arithmetic import training_operations
from machine import MEGABYTE, in_fresh_process, peak_memory, profile, require, shares_of_peak
from material import options_of, read_sentences
from plain_bilm import PlainBiLm
from run import conditions, make_parser, measured, passed_on, rates, report, take_turns
from torch import Tensor, nn

from elmo_plugin.bilm.characters import PADDING, word_to_character_ids

PREFIXES = ("peer_", "")
# Steps in a round, and rounds: a minute or two at the speed of AllenNLP's parts.
EFFORT = {"tiny": (8, 5), "small": (4, 5), "original": (1, 3)}
WORDS = {"tiny": 30_000, "small": 30_000, "original": 793_471}  # in the vocabulary
GRADIENT_NORM = 10.0  # as published
MATMUL_PRECISION = "medium"  # of ours, as all configurations have it
Batch = dict[str, Any]


class Subject(NamedTuple):
    """
    model: gives the `loss` of a batch
    start_afresh: forgets the state that is carried from batch to batch
    matmul_precision: of torch's float32 products in training
    """

    model: nn.Module
    batches: list[Batch]
    start_afresh: Callable[[], None]
    matmul_precision: str


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    batches = list(islice(read_batches(args), args.steps))
    if args.alone is not None:
        subject = load(args.alone, args, batches)
        train_round(subject, adam(subject))
        print(json.dumps(peak_memory(args.device)))
        return
    names = (
        "size precision peer_matmul_precision batch_size unroll_steps negatives vocabulary "
        "dropout steps"
    )
    figures = conditions(args, *names.split(), "rounds")
    report(figures | memory(args) | speed(args, batches), args.json)


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    add = parser.add_argument
    add("--precision", choices=["float32", "bfloat16"], default="float32", help="of ours")
    add(
        "--peer-matmul-precision",
        choices=["highest", "medium"],
        default="highest",
        help="torch's: highest",
    )
    add("--batch-size", type=int, default=128, help="streams")
    add("--unroll-steps", type=int, default=20, help="tokens of each stream in a batch")
    add("--negatives", type=int, default=8192, help="words of the sampled softmax")
    add("--vocabulary", type=int, help="words")
    add("--dropout", type=float, default=0.1)
    add("--steps", type=int, help="in a round")
    add("--no-memory", action="store_true", help="leave out the runs for peak memory")
    add("--profile", action="store_true", help="of a step of ours: the longest operations")
    add("--alone", choices=PREFIXES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    require(args.precision, args.device)
    steps, rounds = EFFORT[args.size]
    args.vocabulary = args.vocabulary or WORDS[args.size]
    args.steps, args.rounds = args.steps or steps, args.rounds or rounds
    return args


def read_batches(args: argparse.Namespace) -> Iterator[Batch]:
    """
    Endless batches of two streams of the text, as `bilm_stream` gives them. A word's number in the
    vocabulary is its rank by frequency, after padding and unknown.
    """
    sentences = read_sentences(args.text)
    ranks = Counter(chain.from_iterable(sentences)).most_common(args.vocabulary - 2)
    numbers = {word: number for number, (word, _) in enumerate(ranks, start=2)}
    words = cycle(chain.from_iterable(sentences))
    slots = options_of(args.size).char_cnn.max_characters_per_token
    for number in range(args.steps):
        batch: Batch = {"stream_starts": number == 0}
        types: dict[str, int] = {}
        for direction in ("forward", "backward"):
            taken = list(islice(words, args.batch_size * (args.unroll_steps + 1)))
            rows = [taken[row :: args.batch_size] for row in range(args.batch_size)]
            # Shape of both: (batch, time)
            batch[f"{direction}_types"] = torch.tensor(
                [[types.setdefault(word, len(types)) for word in row[:-1]] for row in rows]
            )
            batch[f"{direction}_targets"] = torch.tensor(
                [[numbers.get(word, 1) for word in row[1:]] for row in rows]
            )
        ids = [word_to_character_ids(word, slots) for word in types]
        yield batch | {"character_ids": torch.from_numpy(np.stack(ids))}


def load(prefix: str, args: argparse.Namespace, batches: list[Batch]) -> Subject:
    """One of the two, with random weights."""
    torch.manual_seed(0)
    np.random.seed(0)  # the sampler of AllenNLP's softmax draws from it
    options = options_of(args.size)
    if prefix == "peer_":
        from peer_bilm import PeerBiLm  # here: it needs AllenNLP

        peer = PeerBiLm(options, args.vocabulary, args.negatives, args.dropout).to(args.device)
        moved = on_device([peer.batch(batch) for batch in batches], args.device)
        return Subject(peer, moved, peer.start_afresh, args.peer_matmul_precision)
    model = PlainBiLm(options, args.vocabulary, args.negatives, args.dropout, args.precision)
    if find_spec("allennlp"):
        from peer_bilm import language_model

        model = language_model(
            options, args.vocabulary, args.negatives, args.dropout, args.precision
        )
    moved = on_device(batches, args.device)
    return Subject(model.to(args.device), moved, lambda: None, MATMUL_PRECISION)


def on_device(batches: list[Batch], device: str) -> list[Batch]:
    return [
        {
            name: part.to(device) if isinstance(part, Tensor) else part
            for name, part in batch.items()
        }
        for batch in batches
    ]


def adam(subject: Subject) -> torch.optim.Optimizer:
    weights = list(subject.model.parameters())
    return torch.optim.Adam(weights, fused=weights[0].is_cuda)


def train_round(subject: Subject, optimizer: torch.optim.Optimizer) -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(subject.matmul_precision)
    subject.start_afresh()
    for batch in subject.batches:
        optimizer.zero_grad()
        subject.model(**batch)["loss"].backward()
        nn.utils.clip_grad_norm_(subject.model.parameters(), GRADIENT_NORM)
        optimizer.step()
    torch.set_float32_matmul_precision(before)


def memory(args: argparse.Namespace) -> dict[str, Any]:
    """Peak memory of each of the two, alone in a process that trains for one round."""
    if args.no_memory:
        return {}
    names = (
        "size precision batch_size unroll_steps negatives vocabulary dropout device threads steps "
        "text"
    )
    options = passed_on(args, *names.split())
    return {
        f"{prefix}peak_memory_mb": in_fresh_process(__file__, *options, f"--alone={prefix}")
        / MEGABYTE
        for prefix in measured(PREFIXES)
    }


def speed(args: argparse.Namespace, batches: list[Batch]) -> dict[str, Any]:
    """The median round of each of the two, in turns, and the arithmetic that ours needs."""
    subjects = {prefix: load(prefix, args, batches) for prefix in measured(PREFIXES)}
    optimizers = {prefix: adam(subject) for prefix, subject in subjects.items()}
    works = {
        prefix: partial(train_round, subject, optimizers[prefix])
        for prefix, subject in subjects.items()
    }
    figures: dict[str, Any] = {
        f"{prefix}first_loss": subject.model(**subject.batches[0])["loss"].item()
        for prefix, subject in subjects.items()
    }
    tokens = args.steps * args.batch_size * args.unroll_steps
    figures |= rates(take_turns(works, args.rounds, args.device), tokens)
    operations = sum(
        training_operations(
            options_of(args.size),
            characters=(batch["character_ids"] != PADDING).sum(dim=1).tolist(),
            steps=batch["forward_types"].numel(),
            targets=2 * batch["forward_targets"].numel(),
            negatives=args.negatives,
        )
        for batch in batches
    )
    figures["operations_per_token"] = operations / tokens
    rate = figures["tokens_per_second"] * operations / tokens
    figures |= shares_of_peak(rate, args.precision, args.device)
    if args.profile:
        step = subjects[""]._replace(batches=subjects[""].batches[:1])
        figures["profile"] = profile(partial(train_round, step, optimizers[""]), args.device)
    return figures


if __name__ == "__main__":
    main()
