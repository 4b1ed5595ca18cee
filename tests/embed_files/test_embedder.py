"""Tokenizers; several processes give what one gives, and end with the one that started them."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple, TextIO

import pytest

from elmo_plugin.bilm import BiLmError
from elmo_plugin.embed_files import EmbedSettings, embed_file
from tests.embed_files.conftest import LINES, write_text
from tests.embed_files.test_kills import PROCESSES, embed_silently


def workers_of(process: BaseProcess) -> set[int]:
    """The children of a process, except the one that tracks resources."""
    files = Path(f"/proc/{process.pid}/task").glob("*/children")
    children = {int(child) for file in files for child in file.read_text().split()}
    return {
        child for child in children if "resource" not in Path(f"/proc/{child}/cmdline").read_text()
    }


@pytest.mark.slow
@pytest.mark.usefixtures("short_chunks", "forked_workers")  # those of a user start below
def test_two_workers_write_the_same_bytes_as_one(settings: EmbedSettings, tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.txt", LINES * 3)
    for workers in (1, 2):
        embed_file(text, tmp_path / f"{workers}.hdf5", settings, workers=workers)
    assert (tmp_path / "1.hdf5").read_bytes() == (tmp_path / "2.hdf5").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("forked_workers")
def test_the_error_of_a_worker_is_raised(
    settings: EmbedSettings, text: Path, tmp_path: Path
) -> None:
    with pytest.raises(BiLmError, match=r"text\.txt, line 1: the sentence has 7 words"):
        embed_file(text, tmp_path / "out.hdf5", replace(settings, max_words=3), workers=2)


class Embedding(NamedTuple):
    """A process that embeds a text of which the end has not come, with two workers."""

    process: BaseProcess
    text: TextIO

    def write(self, lines: list[str]) -> None:
        self.text.write("".join(f"{line}\n" for line in lines))
        self.text.flush()


@contextmanager
def embedding(output: Path, settings: EmbedSettings) -> Iterator[Embedding]:
    """Yields a process that has embedded a part of a text, which is `LINES`, again and again."""
    pipe = output.with_suffix(".pipe")
    os.mkfifo(pipe)
    process = PROCESSES.Process(target=embed_silently, args=(pipe, output, settings, 2))
    process.start()
    with pipe.open("w", encoding="utf-8") as text:  # when the process has opened it, too
        begun = Embedding(process, text)
        begun.write(LINES * 60)
        while not list(output.parent.glob("out.hdf5.unfinished/*.npz")):
            time.sleep(0.05)
            assert process.is_alive()
        yield begun


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_workers_end_when_the_process_that_started_them_is_killed(
    settings: EmbedSettings, tmp_path: Path
) -> None:
    with embedding(tmp_path / "out.hdf5", settings) as begun:
        workers = workers_of(begun.process)
        assert len(workers) == 2
        begun.process.kill()
        begun.process.join()
    while any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
        time.sleep(0.1)  # until the limit of all slow tests


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_a_run_with_a_killed_worker_ends_with_one_sentence_and_can_continue(
    settings: EmbedSettings, tmp_path: Path
) -> None:
    output = tmp_path / "out.hdf5"
    with embedding(output, settings) as begun:
        os.kill(max(workers_of(begun.process)), signal.SIGKILL)
        begun.write(LINES)  # which no worker has embedded before
    begun.process.join()
    assert begun.process.exitcode == 1
    message = output.with_suffix(".log").read_text().splitlines()[-1]
    assert message.endswith("a worker was killed, perhaps for lack of memory")
    assert embed_file(write_text(tmp_path / "text.txt", LINES * 61), output, settings)
