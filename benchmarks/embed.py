"""Tokens per second of a biLM, here and in AllenNLP: the same weights, the same sentences, one
process.

    python benchmarks/embed.py --size original --precision bfloat16 --batch-size 32 \\
        --json embed.json

AllenNLP's `Elmo` (float32) and our fastest way in the precision asked for take turns. Both start
from words and end with the vectors of all words; the median round counts. How each figure is
measured is described in benchmarks/README.md.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from arithmetic import text_operations, weights_per_step
from machine import (
    MEGABYTE,
    in_fresh_process,
    memory_read_rate,
    peak_memory,
    profile,
    require,
    shares_of_peak,
)
from material import Sentences, cut, in_batches, model_files, read_sentences, write_model
from run import conditions, make_parser, measured, passed_on, rates, report, take_turns
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.bilm.precision import PRECISIONS

# The two that are measured, by the prefix of their figures.
PREFIXES = ("peer_", "")
# Sentences in a round, in batches and one at a time, and rounds: a minute or two at AllenNLP's
# speed.
EFFORT = {"tiny": (2048, 512, 5), "small": (256, 256, 5), "original": (64, 48, 3)}
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}  # of a weight


class Subject(NamedTuple):
    """
    embed: gives the vectors of all words of a batch, one below the other, each the mean of the
        layers
    start_afresh: forgets the words that it has seen
    """

    embed: Callable[[Sentences], Tensor]
    start_afresh: Callable[[], None]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    torch.set_float32_matmul_precision(args.matmul_precision)
    sentences = read_sentences(args.text)
    sentences = (cut(sentences, args.words) if args.words else sentences)[: args.sentences]
    batches = in_batches(sentences, args.batch_size)
    if args.alone is not None:
        pass_over(load(args.alone, args.model, args), batches)
        print(json.dumps(peak_memory(args.device)))
        return
    tokens = sum(map(len, sentences))
    figures = conditions(args, "size", "precision", "matmul_precision", "batch_size", "rounds")
    figures |= {
        "sentences": len(sentences),
        "words_per_sentence": round(tokens / len(sentences), 1),
    }
    with tempfile.TemporaryDirectory() as folder:
        options = BiLmOptions.from_file(write_model(args.size, Path(folder))[0])
        figures |= memory(args, folder) | speed(args, Path(folder), batches, tokens)
    rate = figures["tokens_per_second"]
    operations = text_operations(options, sentences) / tokens
    figures |= {"operations_per_token": operations}
    figures |= shares_of_peak(operations * rate, args.precision, args.device)
    if args.batch_size == 1 and args.device == "cpu":  # each time step reads weights again
        steps = 1 + len(sentences) / tokens  # per word: the words' time steps and one boundary
        read = rate * steps * weights_per_step(options.lstm) * BYTES[args.precision]
        figures |= {
            "weight_bytes_per_second": read,
            "share_of_memory_peak": read / memory_read_rate(),
        }
    report(figures, args.json)


def read_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    add = parser.add_argument
    add("--precision", choices=PRECISIONS, default="float32")
    add(
        "--matmul-precision",
        choices=["highest", "high"],
        default="highest",
        help="of float32; high: TF32",
    )
    add("--batch-size", type=int, default=32)
    add("--sentences", type=int, help="in a round")
    add("--words", type=int, help="cut the text into sentences of exactly this many words")
    add("--no-memory", action="store_true", help="leave out the runs for peak memory")
    add("--profile", action="store_true", help="of two batches of ours: the longest operations")
    add("--alone", choices=PREFIXES, help=argparse.SUPPRESS)
    add("--model", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    require(args.precision, args.device)
    in_batches_of_several, one_at_a_time, rounds = EFFORT[args.size]
    args.rounds = args.rounds or rounds
    args.sentences = args.sentences or (
        one_at_a_time if args.batch_size == 1 else in_batches_of_several
    )
    return args


def load(prefix: str, folder: Path, args: argparse.Namespace) -> Subject:
    """One of the two, with the weights in the folder."""
    if prefix == "peer_":
        return load_peer(folder, args.device)
    bilm = BiLm.from_files(*model_files(folder), precision=args.precision).to(args.device)

    def start_afresh() -> None:
        """Forgets every word that was seen, as at the start of a program; laid-out weights stay."""
        bilm.clear_word_cache()
        word_to_character_ids.cache_clear()

    return Subject(lambda batch: torch.cat(bilm.embed(batch), dim=1).mean(dim=0), start_afresh)


def load_peer(folder: Path, device: str) -> Subject:
    """AllenNLP's `Elmo`. Its untrained mix is the mean of the layers."""
    from allennlp.modules.elmo import Elmo, batch_to_ids  # here: it takes seconds and memory

    options, weights = map(str, model_files(folder))
    elmo = Elmo(options, weights, 1, dropout=0.0).eval().to(device)

    @torch.no_grad()
    def embed(batch: Sentences) -> Tensor:
        output = elmo(batch_to_ids(batch).to(device))
        return output["elmo_representations"][0][output["mask"]]

    return Subject(embed, lambda: None)


def pass_over(subject: Subject, batches: list[Sentences]) -> None:
    for batch in batches:
        subject.embed(batch)


def memory(args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """
    Peak memory of each of the two, alone in a process that loads the model and embeds the text
    once.
    """
    if args.no_memory:
        return {}
    names = "size precision batch_size device threads sentences words text"
    options = passed_on(args, *names.split())
    return {
        f"{prefix}peak_memory_mb": in_fresh_process(
            __file__, *options, f"--alone={prefix}", "--model", folder
        )
        / MEGABYTE
        for prefix in measured(PREFIXES)
    }


def speed(
    args: argparse.Namespace, folder: Path, batches: list[Sentences], tokens: int
) -> dict[str, Any]:
    """The median round of each of the two, in turns; "cached" knows all words of the text."""
    subjects = {prefix: load(prefix, folder, args) for prefix in measured(PREFIXES)}
    first = {prefix: subject.embed(batches[0]) for prefix, subject in subjects.items()}

    def pass_afresh(subject: Subject) -> None:
        subject.start_afresh()
        pass_over(subject, batches)

    works = {prefix: partial(pass_afresh, subject) for prefix, subject in subjects.items()}
    works["cached_"] = partial(pass_over, subjects[""], batches)
    figures = rates(take_turns(works, args.rounds, args.device), tokens)
    if "peer_" in first:
        figures["max_difference"] = (first[""] - first["peer_"]).abs().max().item()
    if args.profile:
        figures["profile"] = profile(partial(pass_over, subjects[""], batches[:2]), args.device)
    return figures


if __name__ == "__main__":
    main()
