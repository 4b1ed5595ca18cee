"""The benchmarks are programs and no package: how tests reach into them and run them."""

import importlib
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.forks import ends_well_in_a_fork

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
