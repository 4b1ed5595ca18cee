"""Ctrl-C and SIGTERM end a command with one sentence and status 130 or 143, whenever they come."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_plugin.commands.main import Stop
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "while",
    "it",
    "ran",
    "away",
    "and",
    "why",
    "did",
    "they",
]


@pytest.fixture
def stop() -> Iterator[Stop]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield Stop()
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_the_block_and_is_ignored_after_it(stop: Stop, number: int) -> None:
    stop.install()
    with pytest.raises(KeyboardInterrupt), stop:
        signal.raise_signal(number)
    assert stop.number == number
    signal.raise_signal(number)


def test_a_signal_at_the_end_of_the_block_interrupts_nothing(
    stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop.install()
    getsignal = signal.getsignal

    def getsignal_while_one_comes(number: int) -> object:
        signal.raise_signal(number)
        return getsignal(number)

    with stop:
        monkeypatch.setattr(signal, "getsignal", getsignal_while_one_comes)
    assert stop.number == signal.SIGTERM


def test_a_forked_worker_ends_silently(
    stop: Stop, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # If another test has used tokenizers of transformers, they warn about a fork.
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    stop.install()
    with stop:
        child = os.fork()
        if child == 0:
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert capfd.readouterr().err == ""


def test_ignored_signals_stay_ignored(stop: Stop) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop.install()
    with stop:
        signal.raise_signal(signal.SIGINT)
    assert not stop.number


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """Starts `elmo` as a shell does: Ctrl-C is not ignored, and reaches all of its processes."""
    program = [sys.executable, "-m", "elmo_plugin", *arguments]
    environment = os.environ | {
        "PYTHONPATH": str(REPOSITORY),
        "ELMO_PLUGIN_CACHE": str(folder / "cache"),
    }
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


COMMANDS = {
    "embed": ["embed", "text.txt", "out.hdf5", "--all", "--bilm", "tiny", "--workers", "2"],
    "perplexity": ["perplexity", "run/model.tar.gz", "text.txt", "--per-sentence", "scores.jsonl"],
}


def handles_signals(process: subprocess.Popen[str]) -> bool:
    """Whether Python itself has started, and our first lines, which handle SIGTERM, have run."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    assert caught is not None
    return bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def interrupt(arguments: list[str], folder: Path, seconds: float, number: int) -> str:
    """
    Stops a command that has run for some seconds. Returns what was wrong, or an empty string.
    """
    process = start(arguments, folder)
    while not handles_signals(process):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, number)
    try:
        error = process.communicate(timeout=300)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "it did not end"
    messages = [
        line for line in error.splitlines() if line.startswith(f"elmo {arguments[0]}: stopped")
    ]
    wrong = [
        word for word in ("Traceback", "Error", "Exception ignored", "corrupt") if word in error
    ]
    has_ended = process.returncode == 0 and not messages
    is_stopped = process.returncode == 128 + number and len(messages) == 1
    temporaries = [path.name for path in folder.glob(".*") if not path.name.endswith(".lock")]
    return (
        ""
        if (has_ended or is_stopped) and not wrong + temporaries
        else f"{process.returncode}: {error}"
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("name", COMMANDS)
def test_each_stop_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    generator = random.Random(34)
    sentences = [
        " ".join(generator.choices(WORDS, k=generator.randint(3, 25))) for _ in range(20_000)
    ]
    (folder / "text.txt").write_text("\n".join(sentences))
    write_training(folder / "run", random_bilm())
    for number in (signal.SIGINT, signal.SIGTERM):
        seconds = generator.uniform(0, 4)
        # On a fast machine a command may end before it is interrupted.
        copy = shutil.copytree(folder, tmp_path / f"{seconds}")
        assert not interrupt(COMMANDS[name], copy, seconds, number), f"after {seconds:.2f} s"
