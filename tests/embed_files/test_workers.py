"""Several processes give what one gives, and end with the one that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elmo_plugin.embed_files.run import embed_file
from elmo_plugin.embed_files.settings import Settings
from tests.embed_files.conftest import LINES, write_text
from tests.embed_files.test_kills import PROCESSES, embed_silently


def children_of(process: int) -> set[int]:
    files = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for file in files for child in file.read_text().split()}


@pytest.mark.parametrize("name", ["out.hdf5", pytest.param("out.safetensors", marks=pytest.mark.slow)])
def test_two_workers_write_the_bytes_of_one(
    name: str, settings: Settings, tmp_path: Path, short_passages: None
) -> None:
    text = write_text(tmp_path / "text.txt", LINES * 3)
    for workers in (1, 2):
        embed_file(text, tmp_path / f"{workers}_{name}", settings, workers=workers)
    assert (tmp_path / f"1_{name}").read_bytes() == (tmp_path / f"2_{name}").read_bytes()


def test_workers_do_not_wait_for_allennlp() -> None:
    program = "import sys, elmo_plugin.embed_files.workers; print('allennlp' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.slow
def test_the_error_of_a_worker_is_raised(settings: Settings, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out.hdf5.unfinished"
    (folder / "00000000.part").mkdir(parents=True)
    with pytest.raises(OSError, match=r"00000000\.part"):
        embed_file(text, tmp_path / "out.hdf5", settings, workers=2)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's /proc")
def test_workers_end_when_the_process_that_started_them_is_killed(
    settings: Settings, tmp_path: Path, short_passages: None
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
    settings: Settings, tmp_path: Path, short_passages: None
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
