"""Embedding that is killed at random moments, by the system, and started again."""

import multiprocessing
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch

from elmo_plugin.embed_files.run import embed_file
from elmo_plugin.embed_files.settings import Settings
from tests.embed_files.conftest import LINES, write_text

# A process that is forked from one that has used a GPU cannot embed.
PROCESSES = multiprocessing.get_context("spawn" if torch.cuda.is_available() else "fork")
MINUTES = 600.0  # long enough for any end


def embed_silently(source: Path, output: Path, settings: Settings, workers: int) -> None:
    sys.stdout = sys.stderr = open(output.with_suffix(".log"), "a", buffering=1)  # noqa: SIM115
    embed_file(source, output, settings, workers=workers)


def embed_and_kill(
    source: Path, output: Path, settings: Settings, moments: Iterable[float], workers: int = 1
) -> int:
    """Kills a process so many seconds after its start, and starts another, to the end. Counts the kills."""
    for kills, moment in enumerate(moments):
        arguments = source, output, settings, workers
        process = PROCESSES.Process(target=embed_silently, args=arguments)
        process.start()
        process.join(moment)
        if process.exitcode is not None:
            assert process.exitcode == 0, output.with_suffix(".log").read_text()[-3000:]
            return kills
        process.kill()
        process.join()
    raise AssertionError("embedding has not come to its end")


def check_kills(
    name: str, settings: Settings, folder: Path, seed: int, kills: int, workers: int = 1, repeat: int = 6
) -> None:
    text = write_text(folder / "text.txt", [f"{line} {number}" for number in range(repeat) for line in LINES])
    begin = time.monotonic()
    embed_and_kill(text, folder / f"whole_{name}", settings, [MINUTES])
    duration = time.monotonic() - begin
    random_numbers = random.Random(seed)
    moments = [duration * random_numbers.uniform(0, 1) for _ in range(kills)]
    # In time they get longer than embedding takes, even if the machine has become slower.
    moments += [duration * (1 + trial) for trial in range(100)]
    assert embed_and_kill(text, folder / name, settings, moments, workers) > 0
    assert (folder / name).read_bytes() == (folder / f"whole_{name}").read_bytes()
    assert not list(folder.glob("*.unfinished")), "nothing else is left"


@pytest.mark.parametrize("name", ["out.hdf5", "out.safetensors"])
def test_kills_at_random_moments_change_no_byte(
    name: str, settings: Settings, tmp_path: Path, short_passages: None
) -> None:
    check_kills(name, settings, tmp_path, seed=5, kills=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["out.hdf5", "out.safetensors"])
def test_many_kills_change_no_byte(
    name: str, seed: int, settings: Settings, tmp_path: Path, short_passages: None
) -> None:
    check_kills(name, settings, tmp_path, seed, kills=20, repeat=30)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_kills_with_two_workers_change_no_byte(
    seed: int, settings: Settings, tmp_path: Path, short_passages: None
) -> None:
    check_kills("out.hdf5", settings, tmp_path, seed, kills=5, workers=2, repeat=30)
