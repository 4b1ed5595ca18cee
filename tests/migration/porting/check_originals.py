"""
Runs `check.py`, which comes with the archives of the original programs, and judges as it does. Only
its calls of `elmo port` become forks of a process that has imported AllenNLP and nothing else: if
each were a program of its own, it would import AllenNLP for four seconds.

    python -m tests.migration.porting.check_originals CHECK.PY NAMES…
"""

import importlib.util
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import elmo_plugin.migration.porting.archive
import elmo_plugin.plugin  # noqa: F401
from elmo_plugin.commands.main import run_process
from tests.forks import run_forked

_SECONDS = 600.0


class ForkedSubprocess:
    """Takes the place of the module `subprocess` in `check.py`, which calls `run` alone."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def run(self, command: list[str], *, cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
        return self._pool.submit(_run_elmo, command, cwd).result()


def _run_elmo(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `elmo` in a fork of this process, and returns its status and its errors."""

    def work() -> None:
        sys.argv = command
        run_process()

    ended = run_forked(work, folder, _SECONDS)
    return subprocess.CompletedProcess(command, ended.status, stderr=ended.error)


def main() -> None:
    path = Path(sys.argv.pop(1))
    specification = importlib.util.spec_from_file_location("check", path)
    check: Any = importlib.util.module_from_spec(specification)
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        # Starts the pool's process, while this one has not imported allennlp-models yet.
        pool.submit(int).result()
        specification.loader.exec_module(check)
        check.subprocess = ForkedSubprocess(pool)
        check.main()


if __name__ == "__main__":
    main()
