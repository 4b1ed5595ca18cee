"""Ctrl-C ends a command with one sentence and status 130, whenever it comes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elmo_plugin.commands.stops import Stops
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training

STARTED = 0.15  # seconds after which Python itself has started, and our first line may have run
WORDS = ["the", "cat", "sat", "on", "a", "mat", "while", "it", "ran", "away", "and", "why", "did", "they"]


class Lost:
    """Python cannot raise what happens here."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def stops() -> Stops:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    found = Stops(is_program=False)
    yield found
    found.end()
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_python_drops_is_raised_again(
    stops: Stops, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        stops.begin()
        Lost()
        time.sleep(5)
    assert stops.number == signal.SIGINT
    assert capsys.readouterr().err == ""


def test_a_forked_worker_ends_without_a_word(stops: Stops, capfd: pytest.CaptureFixture[str]) -> None:
    stops.begin()
    child = os.fork()
    if child == 0:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert capfd.readouterr().err == ""


def test_ignored_signals_stay_ignored(stops: Stops) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stops.begin()
    signal.raise_signal(signal.SIGINT)
    assert not stops.number


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """Starts `elmo` as a shell does: Ctrl-C is not ignored, and reaches all of its processes."""
    program = [sys.executable, "-m", "elmo_plugin", *arguments]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "ELMO_PLUGIN_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        program,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def commands(folder: Path, lines: int) -> dict[str, list[str]]:
    generator = random.Random(1)
    sentences = [" ".join(generator.choices(WORDS, k=generator.randint(3, 25))) for _ in range(lines)]
    (folder / "text.txt").write_text("\n".join(sentences))
    archive = str(write_training(folder / "run", random_bilm()))
    return {
        "embed": ["embed", "text.txt", "out.hdf5", "--all", "--bilm", "tiny"],
        "embed with workers": ["embed", "text.txt", "out.hdf5", "--all", "--bilm", "tiny", "--workers", "2"],
        "vocab": ["vocab", "text.txt", "text*.txt", "-o", "vocabulary", "--num-processes", "2"],
        "perplexity": ["perplexity", archive, "text.txt", "--per-sentence", "scores.jsonl"],
        "neighbors": ["neighbors", "tiny", "text.txt", "--query", "the cat", "--word", "cat"],
    }


def interrupt(arguments: list[str], folder: Path, seconds: float) -> str:
    """Returns what was wrong, or an empty string."""
    process = start(arguments, folder)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    try:
        error = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "it did not end"
    said = [line for line in error.splitlines() if line.startswith(f"elmo {arguments[0]}: stopped; ")]
    wrong = [word for word in ("Traceback", "Error", "Exception ignored", "corrupt") if word in error]
    has_ended = process.returncode == 0 and not said
    is_stopped = process.returncode == 130 and len(said) == 1
    return "" if (has_ended or is_stopped) and not wrong else f"{process.returncode}: {error}"


def interrupts(arguments: list[str], folder: Path, number: int, seed: int, most: float) -> list[str]:
    """
    Interrupts a command at random moments, all of them before `most` seconds, each time from the same files.
    Returns what was wrong.
    """
    generator = random.Random(seed)
    found = {}
    for number_of_run in range(number):
        seconds = generator.uniform(STARTED, most)
        # On a fast machine a command may end before it is interrupted, and `vocab` replaces no output.
        run_folder = shutil.copytree(folder, folder.with_name(f"{folder.name}_{number_of_run}"))
        found[seconds] = interrupt(arguments, run_folder, seconds)
    return [f"after {seconds:.2f} s: {wrong}" for seconds, wrong in found.items() if wrong]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["embed", "embed with workers", "vocab", "perplexity", "neighbors"])
def test_each_interrupt_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    arguments = commands(tmp_path, lines=20_000)[name]
    assert not interrupts(arguments, tmp_path, number=3, seed=34, most=10)
