"""Embedding that is killed at random moments, by the system, and started again."""

import multiprocessing
import random
import sys
import time
from pathlib import Path

import pytest
import torch

from elmo_plugin.embed_files import EmbedSettings, embed_file
from tests.embed_files.conftest import LINES, write_text

# A process that is forked from one that has used a GPU cannot embed.
PROCESSES = multiprocessing.get_context("spawn" if torch.cuda.is_available() else "fork")
MINUTES = 600.0  # long enough for any end


def embed_silently(source: Path, output: Path, settings: EmbedSettings, workers: int) -> None:
    sys.stdout = sys.stderr = open(output.with_suffix(".log"), "a", buffering=1)  # noqa: SIM115
    embed_file(source, output, settings, workers=workers)


def ends_within(
    seconds: float, source: Path, output: Path, settings: EmbedSettings, workers: int
) -> bool:
    """Whether a process does, and well; if not, it is killed."""
    process = PROCESSES.Process(target=embed_silently, args=(source, output, settings, workers))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        return False
    assert process.exitcode == 0, output.with_suffix(".log").read_text()[-3000:]
    return True


def check_kills(
    name: str, settings: EmbedSettings, folder: Path, seed: int, kills: int, workers: int = 1
) -> None:
    """
    Starts, kills and starts again, until there were this many kills; what is whole is begun once
    more.
    """
    text = write_text(
        folder / "text.txt", [f"{line} {number}" for number in range(5) for line in LINES]
    )
    whole, output = folder / f"whole_{name}", folder / name
    begin = time.monotonic()
    assert ends_within(MINUTES, text, whole, settings, workers)
    duration = time.monotonic() - begin
    random_numbers = random.Random(seed)
    while kills > 0:
        seconds = duration * random_numbers.uniform(0, 1)
        if ends_within(seconds, text, output, settings, workers):
            assert output.read_bytes() == whole.read_bytes()
            output.unlink()
            duration = min(duration, seconds)  # the first run may have been a slow one
        else:
            kills -= 1
    assert ends_within(MINUTES, text, output, settings, workers)
    assert output.read_bytes() == whole.read_bytes()
    assert not list(folder.glob("*.unfinished")), "nothing else is left"


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.slow
@pytest.mark.parametrize(("name", "kills"), [("out.hdf5", 9), ("out.safetensors", 4)])
def test_repeated_kills_do_not_change_the_output(
    name: str, kills: int, settings: EmbedSettings, tmp_path: Path
) -> None:
    check_kills(name, settings, tmp_path, seed=0, kills=kills)
