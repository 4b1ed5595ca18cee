"""Locks that keep threads out, and not forked processes; devices as AllenNLP numbers them."""

import pytest
import torch

from elmo_plugin.common.process import ForkSafeLock, cuda_number
from tests.forks import ends_well_in_a_fork


def test_a_lock_held_by_the_parent_is_free_in_a_forked_child() -> None:
    lock = ForkSafeLock()

    def work() -> None:
        with lock:
            pass

    with lock:
        assert ends_well_in_a_fork(work)
    assert ends_well_in_a_fork(work)


def test_only_a_gpu_has_a_number_for_allennlp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert cuda_number("cuda") == 0
    assert cuda_number("cuda:1") == 1
    for name in ("cpu", "cpu:0"):
        assert cuda_number(name) == -1
