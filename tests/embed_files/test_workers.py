"""Several processes give what one gives, and end with the one that started them."""

import ast
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import numpy as np
import pytest

import elmo_plugin
from elmo_plugin.common.process import use_mmap_for_large_blocks
from elmo_plugin.embed_files import EmbedSettings, embed_file
from tests.embed_files.conftest import LINES, write_text
from tests.embed_files.test_kills import PROCESSES, embed_silently

PACKAGE = Path(elmo_plugin.__file__).parent


def children_of(process: int) -> set[int]:
    files = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for file in files for child in file.read_text().split()}


# To start a process anew ("spawn") takes long: it imports torch again.
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_two_workers_write_the_bytes_of_one(
    method: str,
    settings: EmbedSettings,
    tmp_path: Path,
    short_segments: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if method == "fork":
        monkeypatch.setattr(multiprocessing, "get_context", lambda _: PROCESSES)
    text = write_text(tmp_path / "text.txt", LINES * 3)
    for workers in (1, 2):
        embed_file(text, tmp_path / f"{workers}.hdf5", settings, workers=workers)
    assert (tmp_path / "1.hdf5").read_bytes() == (tmp_path / "2.hdf5").read_bytes()


def imported(name: str) -> set[str]:
    """All modules that importing a module of this package imports, as far as this package's files say."""
    found: set[str] = set()
    new = {name}
    while new:
        found |= (parents := {name.rpartition(".")[0] for name in new}) | new
        files = [file for name in new | parents if (file := file_of(name)) is not None]
        trees = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
        names = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
        for node in trees:
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        new = names - found
    return found


def file_of(module: str) -> Path | None:
    path = PACKAGE.parent / module.replace(".", "/")
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def test_workers_do_not_wait_for_allennlp() -> None:
    names = imported("elmo_plugin.embed_files.workers")
    assert {"torch", "elmo_plugin.bilm.bilm", "elmo_plugin.embed_files.text"} <= names
    assert not [name for name in names if name.split(".")[0] == "allennlp"]


@pytest.mark.slow
def test_the_error_of_a_worker_is_raised(settings: EmbedSettings, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out.hdf5.unfinished"
    (folder / "00000000.part").mkdir(parents=True)
    with pytest.raises(OSError, match=r"00000000\.part"):
        embed_file(text, tmp_path / "out.hdf5", settings, workers=2)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_workers_end_when_the_process_that_started_them_is_killed(
    settings: EmbedSettings, tmp_path: Path, short_segments: None
) -> None:
    text = write_text(tmp_path / "text.txt", LINES * 300)
    process = PROCESSES.Process(target=embed_silently, args=(text, tmp_path / "out.hdf5", settings, 2))
    process.start()
    assert process.pid is not None
    while not list(tmp_path.glob("out.hdf5.unfinished/*.part")):
        time.sleep(0.05)
        assert process.is_alive()
    workers = children_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    end = time.monotonic() + 60
    while any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
        assert time.monotonic() < end, "workers are still there"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_named_and_the_rest_goes_on(
    settings: EmbedSettings, tmp_path: Path, short_segments: None
) -> None:
    text = write_text(tmp_path / "text.txt", LINES * 300)
    output = tmp_path / "out.hdf5"
    process = PROCESSES.Process(target=embed_silently, args=(text, output, settings, 2))
    process.start()
    assert process.pid is not None
    while not list(tmp_path.glob("out.hdf5.unfinished/*.part")):
        time.sleep(0.05)
    for worker in children_of(process.pid):
        os.kill(worker, signal.SIGKILL)
    process.join()
    assert process.exitcode == 1
    assert "a worker has died" in output.with_suffix(".log").read_text()
    assert embed_file(text, output, settings)


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def note_megabytes_kept(results: "SimpleQueue[float]") -> None:
    """Frees large arrays below small ones, after a first one, whose size the C library would remember."""
    use_mmap_for_large_blocks()
    np.ones(24 * 2**20, np.uint8)
    begin = megabytes()
    large = [np.ones(16 * 2**20, np.uint8) for _ in range(4)]
    small = [np.ones(16 * 2**10, np.uint8) for _ in range(64)]
    del large
    results.put(megabytes() - begin)
    del small


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_arrays_are_given_back_while_small_ones_stay() -> None:
    spawn = multiprocessing.get_context("spawn")  # a fork has the holes of this process, where arrays may go
    results = spawn.SimpleQueue()
    process = spawn.Process(target=note_megabytes_kept, args=(results,))
    process.start()
    assert results.get() < 20  # without the call it is some 60
    process.join()
