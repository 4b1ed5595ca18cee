"""State that AllenNLP's checkpoints leave out: the random states, and the progress of an epoch."""

import random
from typing import Any, cast

import numpy as np
import torch
from allennlp.data import TensorDict
from allennlp.training import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides


def random_states(device: torch.device) -> dict[str, Any]:
    """Returns the states of the global random number generators, as values that need no code to be read."""
    name, numbers, *rest = cast(tuple[Any, ...], np.random.get_state())
    return {
        "python": random.getstate(),
        "numpy": (name, numbers.tolist(), *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def set_random_states(states: dict[str, Any], device: torch.device) -> None:
    """Sets what `random_states` returned."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if states["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


def seed_by_rank(rank: int) -> None:
    """Gives each process other random numbers, as for dropout; the first draws as if alone."""
    if rank > 0:
        seed = (torch.initial_seed() + rank) % 2**32
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)


class EpochProgress(TrainerCallback):
    """Counts the batches taken in this epoch, and sums their losses, in `totals`."""

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self.on_epoch()

    @overrides
    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: list[TensorDict],
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if kwargs["is_training"]:
            self.totals["batches"] += len(batch_inputs)
            self.totals["loss"] += batch_metrics["batch_loss"]
            self.totals["reg_loss"] += batch_metrics.get("batch_reg_loss", 0.0) * len(batch_inputs)

    @overrides
    def on_epoch(self, *args: Any, **kwargs: Any) -> None:
        self.totals: dict[str, Any] = {"batches": 0, "loss": 0.0, "reg_loss": 0.0}
