"""The benchmarks are programs and no package: how tests reach into them and run them."""

import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import elmo_plugin.plugin  # noqa: F401 (once here, and not again in each fork)
from tests.forks import ends_well_in_a_fork, run_forked

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def benchmark_module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module(name)


def figures_of(
    program: str, options: list[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> dict[str, Any]:
    """What a program writes as JSON, run in this process."""
    path = folder / "figures.json"
    threads = str(torch.get_num_threads())
    monkeypatch.setattr(sys, "argv", [program, *options, "--threads", threads, "--json", str(path)])
    module = benchmark_module(program, monkeypatch)
    monkeypatch.setattr(module, "in_fresh_process", in_a_fork, raising=False)
    module.main()
    return json.loads(path.read_text())


def in_a_fork(program: str, *arguments: object) -> Any:
    """
    Returns what `machine.in_fresh_process` does, from a copy of this process, which has imported
    much.
    """
    with tempfile.TemporaryFile("w+") as output:

        def work() -> None:
            sys.stdout, sys.argv = output, [program, *map(str, arguments)]
            sys.modules[Path(program).stem].main()
            output.flush()

        assert ends_well_in_a_fork(work, seconds=120)
        output.seek(0)
        return json.loads(output.read().splitlines()[-1])


def run_program_in_a_fork(command: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Does what `gpu.run_program` does in a copy of this process, which has imported much."""
    _, program, *arguments = command
    module = importlib.import_module(Path(program).stem)

    def work() -> None:
        sys.argv = [program, *arguments]
        module.main()

    ended = run_forked(work, Path.cwd(), limit)
    return subprocess.CompletedProcess(command, ended.status, stderr=ended.error)
