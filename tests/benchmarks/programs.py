"""The benchmarks are programs and no package: how tests reach into them and run them."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

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
    benchmark_module(program, monkeypatch).main()
    return json.loads(path.read_text())
