"""What all programs share: options, taking turns, the figures that they print and write."""

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from machine import device_name, seconds
from material import SIZES

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance


def make_parser(description: str | None, *left_out: str) -> argparse.ArgumentParser:
    """The options of all programs, but for those that are left out."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    options: dict[str, dict[str, Any]] = {
        "size": {"choices": SIZES, "default": "tiny", "help": "all but tiny: random weights"},
        "device": {"choices": ["cpu", "cuda"], "default": "cpu"},
        "threads": {"type": int, "default": torch.get_num_threads()},
        "rounds": {"type": int, "help": "that are measured, after one that is not"},
        "text": {
            "type": Path,
            "help": "one tokenized sentence per line; by default prose or NER's example",
        },
        "json": {"type": Path, "help": "where to write the figures"},
    }
    for name in options.keys() - set(left_out):
        parser.add_argument(f"--{name}", **options[name])
    return parser


def measured(prefixes: Sequence[str]) -> list[str]:
    """
    The prefixes of subjects that can be measured here: the peer only where AllenNLP is installed.
    """
    return [prefix for prefix in prefixes if prefix != "peer_" or find_spec("allennlp")]


def conditions(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The options with these names, and what else a figure depends on."""
    return {
        **{name: getattr(args, name) for name in names},
        "threads": args.threads,
        "device": device_name(args.device),
        "torch": torch.__version__,
    }


def passed_on(args: argparse.Namespace, *names: str) -> list[str]:
    """Returns the options with these names that have a value, for another process."""
    options = []
    for name in names:
        value = getattr(args, name)
        if value is not None:
            options.append(f"--{name.replace('_', '-')}={value}")
    return options


def take_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, device: str = "cpu"
) -> dict[str, list[float]]:
    """Seconds of each work in each round; a first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            times[name].append(seconds(work, device))
    return {name: several[1:] for name, several in times.items()}


def rates(times: Mapping[str, list[float]], tokens: int) -> dict[str, Any]:
    """
    Tokens per second in the median round of each work, by the prefix of its figures; `ratio` is the
    median over rounds of ours (prefix "") beside the peer (prefix "peer_"), if both were measured.
    """
    figures: dict[str, Any] = {
        f"{prefix}tokens_per_second": tokens / statistics.median(several)
        for prefix, several in times.items()
    }
    if {"", "peer_"} <= times.keys():
        ratios = [peer / ours for peer, ours in zip(times["peer_"], times[""], strict=True)]
        figures |= {
            "ratio": statistics.median(ratios),
            "ratios": [round(ratio, 3) for ratio in ratios],
        }
    return figures


def report(figures: Mapping[str, Any], path: Path | None) -> None:
    """
    Prints the figures, one per line; writes them, with their provenance, to a JSON file if given.
    """
    for name, value in figures.items():
        print(f"{name:40}{value:,.3f}" if isinstance(value, float) else f"{name:40}{value}")
    if path is not None:
        write_json(path, {**figures, **provenance()})
