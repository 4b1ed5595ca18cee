"""Prints and stores the figures of a benchmark."""

import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from machine import seconds

from elmo_plugin.common.files import write_json
from elmo_plugin.common.provenance import provenance

Subject = TypeVar("Subject")


def take_turns(
    subjects: Mapping[str, Subject],
    work: Callable[[Subject], object],
    *,
    rounds: int,
    amount: int,
    unit: str,
    name: str = "",
) -> dict[str, Any]:
    """
    Lets ours (prefix "") and its peer (prefix "peer_") do the same work in turn. A first
    round of each is not counted.

    # Parameters

    subjects : `Mapping[str, Subject]`
        The two, by the prefixes of their figures.
    work : `Callable[[Subject], object]`
        A round of the work.
    rounds : `int`
        How many are counted.
    amount : `int`
        The work of a round, in units such as documents.
    unit : `str`
        The name of the unit, for the figures.
    name : `str`, optional (default = `""`)
        The work, with which the names of the figures begin, such as "training_".

    # Returns

    `dict[str, Any]`
        `ratio`, the median of the `ratios` of each round, and units per second in the median round.
    """
    times = [
        {prefix: seconds(partial(work, subject)) for prefix, subject in subjects.items()}
        for _ in range(rounds + 1)
    ][1:]
    ratios = [each["peer_"] / each[""] for each in times]
    return {
        f"{name}ratio": statistics.median(ratios),
        f"{name}ratios": [round(ratio, 3) for ratio in ratios],
        **{
            f"{prefix}{name}{unit}_per_second": amount / statistics.median(each[prefix] for each in times)
            for prefix in subjects
        },
    }


def report(figures: Mapping[str, Any], path: Path | None) -> None:
    """Prints the figures, one per line; writes them, with their provenance, to a JSON file if given."""
    for name, value in figures.items():
        print(f"{name:40}{value:,.3f}" if isinstance(value, float) else f"{name:40}{value}")
    if path is not None:
        write_json(path, {**figures, **provenance()})
