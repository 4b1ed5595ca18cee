"""Random states that are stored and restored."""

import random
from pathlib import Path

import numpy as np
import torch

from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.training.random_states import random_states, set_random_states


def test_random_states_are_plain_values_and_give_the_same_draws(tmp_path: Path) -> None:
    def draws() -> list[float]:
        return [random.gauss(0, 1), np.random.randn(), torch.rand(()).item(), random.random()]

    cpu = torch.device("cpu")
    draws()  # one of a pair of normal numbers is now kept for the next draw
    save_tensors(random_states(cpu), tmp_path / "states")
    expected = draws()
    set_random_states(load_plain(tmp_path / "states", "states"), cpu)
    assert draws() == expected
