"""The states of the global random number generators, as a checkpoint stores them."""

import random
from typing import Any, cast

import numpy as np
import torch


def random_states(device: torch.device) -> dict[str, Any]:
    """
    Returns the states of the global random number generators, as plain values and tensors that
    `load_plain` can read.
    """
    numpy_state = cast(tuple[Any, ...], np.random.get_state())
    algorithm, key, position, has_gauss, cached_gaussian = numpy_state
    states = {
        "python": random.getstate(),
        # `key` becomes a list, because `load_plain` cannot read arrays.
        "numpy": (algorithm, key.tolist(), position, has_gauss, cached_gaussian),
        "torch": torch.get_rng_state(),
        "cuda": None,
    }
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: dict[str, Any], device: torch.device) -> None:
    """
    Restores the states that `random_states` returned. The GPU's generator is left unchanged if the
    states were taken on a CPU, or if the training now runs on one.
    """
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if states["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
