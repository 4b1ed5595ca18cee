"""The program of all measurements on a GPU works from end to end on a CPU, and keeps what was measured."""

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from tests.benchmarks.programs import BENCHMARKS, benchmark_module
from tests.without_allennlp import BLOCK_ALLENNLP


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return benchmark_module("gpu", monkeypatch)


def arguments(folder: Path, **changes: Any) -> Namespace:
    return Namespace(**{"device": "cpu", "small": True, "folder": folder, "commit": "abc", **changes})


def test_rows_stay_when_a_part_fails(
    gpu: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measure(device: str, small: bool, size: str) -> Iterator[dict[str, Any]]:
        yield {"size": size, "tokens_per_second": 1.5, "profile": {}}
        raise RuntimeError("out of memory")

    monkeypatch.setitem(sys.modules, "failing", SimpleNamespace(measure=measure))
    monkeypatch.setitem(gpu.PARTS, "failing", gpu.Part("failing", 10, ("small",)))
    with pytest.raises(RuntimeError):
        gpu.run_part("failing", arguments(tmp_path))
    written = json.loads((tmp_path / "failing.json").read_text())
    assert written["rows"] == [{"size": "small", "tokens_per_second": 1.5, "profile": {}}]
    assert not written["is_complete"]
    assert (written["card"], written["torch"], written["commit"]) == ("cpu", torch.__version__, "abc")
    assert written["command"] == "python benchmarks/gpu.py --device cpu --small --parts failing"


def test_a_part_is_stopped_at_its_limit_and_a_failure_is_told(
    gpu: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def too_long(command: list[str], timeout: int, **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(gpu.subprocess, "run", too_long)
    assert gpu.in_a_process("tasks", arguments(tmp_path))["end"] == "stopped after 400 seconds"
    failed = SimpleNamespace(returncode=1, stderr="Traceback\nValueError: no\n")
    monkeypatch.setattr(gpu.subprocess, "run", lambda *_, **__: failed)
    assert gpu.in_a_process("tasks", arguments(tmp_path))["end"] == "failed: ValueError: no"


def test_all_parts_together_take_20_minutes_at_most(gpu: ModuleType) -> None:
    assert sum(part.limit for part in gpu.PARTS.values()) <= 20 * 60


def test_a_card_of_two_kinds_is_known_by_its_whole_name(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = benchmark_module("cards", monkeypatch)
    monkeypatch.setattr(cards, "matrix_product_rate", lambda *_: 1.0)
    for name, kind, peak in (
        ("NVIDIA H100 80GB HBM3", "bfloat16", 989e12),
        ("NVIDIA H100 PCIe", "bfloat16", 756e12),
        ("NVIDIA A100-SXM4-80GB", "tf32", 156e12),
        ("NVIDIA A10G", "float32", 31.2e12),
    ):
        cards.peaks.cache_clear()
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda name=name: name)
        assert cards.peaks(kind, "cuda") == {"measured_peak": 1.0, "listed_peak": peak}
    for name, kind in (("Tesla V100-SXM2-16GB", "tf32"), ("a new card", "float32")):
        cards.peaks.cache_clear()
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda name=name: name)
        assert cards.peaks(kind, "cuda") == {"measured_peak": 1.0}
    cards.peaks.cache_clear()


@pytest.mark.slow
def test_the_whole_program_writes_its_figures_on_a_cpu(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "gpu.py"), "--device", "cpu", "--small"]
    subprocess.run([*command, "--folder", str(tmp_path)], check=True)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {part["end"] for part in summary.values()} == {"complete"}, summary
    rows = {name: json.loads((tmp_path / f"{name}.json").read_text())["rows"] for name in summary}
    assert list(rows) == ["embed_original", "train_original", "tasks", "embed_file"]
    assert {row["batch"] for row in rows["embed_original"] if "batch" in row} == {"1", "64x20", "corpus"}
    assert all(row["tokens_per_second"] > 0 for row in rows["train_original"])
    assert [row["task"] for row in rows["tasks"]] == ["ner", "sst"]
    assert rows["embed_file"][0]["slowest_step"] in ("character_ids", "device", "copy_to_host", "hdf5")


@pytest.mark.slow
def test_without_allennlp_ours_is_measured_and_the_peers_are_left_out() -> None:
    program = f"""
{BLOCK_ALLENNLP}
import json
sys.path.insert(0, {str(BENCHMARKS)!r})
import gpu_embed, gpu_file, gpu_tasks, gpu_train
parts = [gpu_tasks.measure("cpu", True), gpu_train.measure("cpu", True, "original")]
print(json.dumps([list(part) for part in parts]))
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    (tasks,), (ours, peer) = json.loads(done.stdout.splitlines()[-1])
    assert "allennlp" in tasks["left_out"] and "allennlp" in peer["peer_left_out"]
    assert ours["tokens_per_second"] > 0
