"""Tokens per second of a biLM, here and in AllenNLP: the same weights, the same sentences, one process.

    python benchmarks/embed.py --size original --precision bfloat16 --batch-size 32 --json embed.json

AllenNLP's `Elmo`, our reference recurrence (both float32) and our fastest way in the precision asked for take
turns. All start from words and end with the vectors of all words; the median round counts. How each figure is
measured is described in benchmarks/README.md.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from arithmetic import text_operations, weights_per_step
from machine import (
    MEGABYTE,
    device_name,
    in_fresh_process,
    matrix_product_rate,
    memory_read_rate,
    peak_memory,
    require,
    seconds,
)
from material import SIZES, Sentences, cut, model_files, read_sentences, write_model
from torch import Tensor

from elmo_plugin.bilm import BiLm, BiLmOptions
from elmo_plugin.bilm.characters import word_to_character_ids
from elmo_plugin.bilm.precision import PRECISIONS
from elmo_plugin.common.files import atomic_write, write_json
from elmo_plugin.common.provenance import provenance

# The three that are measured, and how the names of their figures begin.
PREFIXES = {"peer": "peer_", "reference": "reference_", "ours": ""}
# Sentences in a round, in batches and one at a time, and rounds: a minute or two at AllenNLP's speed.
EFFORT = {"tiny": (2048, 512, 5), "small": (256, 256, 5), "original": (64, 48, 3)}
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}  # of a weight


class Subject(NamedTuple):
    """
    embed: gives the vectors of all words of a batch, one below the other, each the mean of the layers
    start_afresh: forgets the words that it has seen
    """

    embed: Callable[[Sentences], Tensor]
    start_afresh: Callable[[], None]


def main() -> None:
    args = read_arguments()
    torch.set_num_threads(args.threads)
    sentences = read_sentences(args.text)
    sentences = (cut(sentences, args.words) if args.words else sentences)[: args.sentences]
    if not sentences:
        raise SystemExit("the text is empty, or has fewer words than --words")
    batches = [
        sentences[start : start + args.batch_size] for start in range(0, len(sentences), args.batch_size)
    ]
    if args.alone:
        subject = load(args.alone, args.model, args.precision, args.device)
        pass_over(subject, batches)
        print(json.dumps(peak_memory(args.device)))
        return
    tokens = sum(map(len, sentences))
    figures = {
        "size": args.size,
        "precision": args.precision,
        "batch_size": args.batch_size,
        "sentences": len(sentences),
        "words_per_sentence": round(tokens / len(sentences), 1),
        "rounds": args.rounds,
        "threads": args.threads,
        "device": device_name(args.device),
        "torch": torch.__version__,
    }
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    with tempfile.TemporaryDirectory() as folder:
        options_file, _weights = write_model(args.size, Path(folder))
        options = BiLmOptions.from_file(options_file)
        operations = text_operations(options, sentences)
        figures |= memory(args, folder)
        figures |= speed(args, Path(folder), batches, tokens)
    figures |= shares(args, figures, operations / tokens)
    if args.batch_size == 1 and args.device == "cpu":
        steps = 1 + len(sentences) / tokens  # per word: the words' time steps and one boundary
        figures |= memory_shares(args, figures, steps * weights_per_step(options.lstm))
    print(table(figures))
    if args.json:
        write_json(args.json, figures | provenance())
    if args.plot:
        plot(figures, args.plot)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="tiny", help="all but tiny: random weights")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, help=f"default: {column(2)}")
    parser.add_argument(
        "--sentences", type=int, help=f"in a round; default: {column(0)}; in batches of one: {column(1)}"
    )
    parser.add_argument("--words", type=int, help="cut the text into sentences of exactly this many words")
    parser.add_argument(
        "--text",
        type=Path,
        help="one tokenized sentence per line; by default held-out prose or the NER example",
    )
    parser.add_argument("--no-memory", action="store_true", help="leave out the runs for peak memory")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--plot", type=Path, help="where to draw tokens per second: .png or .svg")
    parser.add_argument("--alone", choices=PREFIXES, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    require(args.precision, args.device)
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no GPU here")
    if args.plot and not find_spec("matplotlib"):
        parser.error("--plot requires matplotlib (in the extra `test`)")
    in_batches, one_at_a_time, rounds = EFFORT[args.size]
    args.rounds = args.rounds or rounds
    args.sentences = args.sentences or (one_at_a_time if args.batch_size == 1 else in_batches)
    return args


def column(number: int) -> str:
    return ", ".join(f"{effort[number]} ({size})" for size, effort in EFFORT.items())


def load(name: str, folder: Path, precision: str, device: str) -> Subject:
    """One of the three, with the weights in the folder."""
    if name == "peer":
        return load_peer(folder, device)
    bilm = BiLm.from_files(*model_files(folder), precision=precision if name == "ours" else "float32")
    bilm.requires_grad_(False).to(device)
    if name == "reference":
        bilm.recurrence = "reference"

    def embed(batch: Sentences) -> Tensor:
        return torch.cat(bilm.embed(batch), dim=1).mean(dim=0)

    return Subject(embed, lambda: start_afresh(bilm))


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


def start_afresh(bilm: BiLm) -> None:
    """Forgets every word that was seen, as at the start of a program; laid-out weights stay."""
    bilm.clear_word_cache()
    word_to_character_ids.cache_clear()


def pass_over(subject: Subject, batches: list[Sentences]) -> None:
    for batch in batches:
        subject.embed(batch)


def memory(args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Peak memory of each of the three, alone in a process that loads the model and embeds the text once."""
    figures: dict[str, Any] = {f"{prefix}peak_memory_mb": None for prefix in PREFIXES.values()}
    if args.no_memory:
        return figures
    options = ["--size", args.size, "--precision", args.precision, "--batch-size", args.batch_size]
    options += ["--device", args.device, "--threads", args.threads, "--sentences", args.sentences]
    options += ["--words", args.words] if args.words else []
    options += ["--text", args.text] if args.text else []
    for name, prefix in PREFIXES.items():
        most = in_fresh_process(__file__, *options, "--alone", name, "--model", folder)
        figures[f"{prefix}peak_memory_mb"] = most / MEGABYTE
    return figures


def speed(args: argparse.Namespace, folder: Path, batches: list[Sentences], tokens: int) -> dict[str, Any]:
    """The median round of each of the three, in turns, after a first turn that is not counted."""
    subjects = {name: load(name, folder, args.precision, args.device) for name in PREFIXES}
    first = {name: subject.embed(batches[0]) for name, subject in subjects.items()}
    times: dict[str, list[float]] = {name: [] for name in [*PREFIXES, "cached"]}
    for _ in range(args.rounds + 1):
        for name, subject in subjects.items():
            subject.start_afresh()
            times[name].append(seconds(partial(pass_over, subject, batches), args.device))
        times["cached"].append(seconds(partial(pass_over, subjects["ours"], batches), args.device))
    times = {name: rounds[1:] for name, rounds in times.items()}
    rates = {name: tokens / statistics.median(rounds) for name, rounds in times.items()}
    ratios = [peer / ours for peer, ours in zip(times["peer"], times["ours"], strict=True)]
    return {
        **{f"{prefix}tokens_per_second": rates[name] for name, prefix in PREFIXES.items()},
        "cached_tokens_per_second": rates["cached"],
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "max_difference": (first["ours"] - first["peer"]).abs().max().item(),
    }


def shares(args: argparse.Namespace, figures: dict[str, Any], operations_per_token: float) -> dict[str, Any]:
    """Needed operations per second, of those that the machine's best matrix product does in the precision."""
    precisions = {"peer": "float32", "reference": "float32", "ours": args.precision}
    peaks = {precision: matrix_product_rate(precision, args.device) for precision in set(precisions.values())}
    done = {name: operations_per_token * figures[f"{PREFIXES[name]}tokens_per_second"] for name in PREFIXES}
    return {
        "operations_per_token": operations_per_token,
        "peak_operations_per_second": peaks[args.precision],
        **{
            f"{prefix}share_of_peak": done[name] / peaks[precisions[name]]
            for name, prefix in PREFIXES.items()
        },
    }


def memory_shares(args: argparse.Namespace, figures: dict[str, Any], weights: float) -> dict[str, Any]:
    """
    For one sentence at a time, when each time step reads weights again: the bytes of weights that ours reads
    per second, and their share in the memory bandwidth.
    """
    per_second = weights * BYTES[args.precision] * figures["tokens_per_second"]
    peak = memory_read_rate()
    return {
        "weight_bytes_per_second": per_second,
        "peak_bytes_per_second": peak,
        "share_of_memory_peak": per_second / peak,
    }


def labels(figures: dict[str, Any]) -> dict[str, str]:
    return {
        "peer": "AllenNLP float32",
        "reference": "reference float32",
        "ours": f"elmo_plugin {figures['precision']}",
    }


def table(figures: dict[str, Any]) -> str:
    """Yields a line for each of the three, and our other figures."""
    lines = [f"{'':24}{'tokens/s':>12}{'x AllenNLP':>12}{'memory, MB':>12}{'of peak':>12}"]
    for name, label in labels(figures).items():
        rate, memory_mb, share = (
            figures[PREFIXES[name] + figure]
            for figure in ("tokens_per_second", "peak_memory_mb", "share_of_peak")
        )
        ratio = figures["ratio"] if name == "ours" else rate / figures["peer_tokens_per_second"]
        held = "-" if memory_mb is None else f"{memory_mb:,.0f}"
        lines.append(f"{label:24}{rate:>12,.1f}{ratio:>12.2f}{held:>12}{share:>12.1%}")
    if "share_of_memory_peak" in figures:
        read, peak = (figures[f"{name}_bytes_per_second"] / 1e9 for name in ("weight", "peak"))
        share = figures["share_of_memory_peak"]
        lines.append(f"weights read: {read:,.0f} GB/s, {share:.0%} of the memory's {peak:,.0f} GB/s")
    return "\n".join(
        [
            *lines,
            f"ratio, round by round: {figures['ratios']}",
            f"second pass over the same text: {figures['cached_tokens_per_second']:,.1f} tokens/s",
            f"best matrix product in {figures['precision']}: "
            f"{figures['peak_operations_per_second'] / 1e9:,.0f} G operations/s",
            f"largest difference from AllenNLP's vectors, first batch: {figures['max_difference']:.1e}",
        ]
    )


def plot(figures: dict[str, Any], path: Path) -> None:
    """Draws the tokens per second of the three as bars."""
    from matplotlib.figure import Figure  # here: only a plot needs it

    figure = Figure(figsize=(6, 2.5), layout="constrained")
    axes = figure.add_subplot()
    rates = [figures[f"{prefix}tokens_per_second"] for prefix in PREFIXES.values()]
    axes.bar_label(axes.barh(list(labels(figures).values()), rates), fmt="{:,.0f}", padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel("tokens/s")
    axes.set_title(f"{figures['size']}, batches of {figures['batch_size']}, {figures['device']}")
    with atomic_write(path) as temporary:
        figure.savefig(temporary)


if __name__ == "__main__":
    main()
