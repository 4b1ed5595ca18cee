"""A model and a data loader that are quick to train with and hard to resume: they have many states."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, Instance, TensorDict, Vocabulary
from allennlp.models import Model
from allennlp.nn.parallel import TorchDdpAccelerator
from allennlp.training.learning_rate_schedulers import LinearWithWarmup
from overrides import overrides
from torch import distributed

from elmo_plugin.language_model.trainer import BiLmTrainer
from elmo_plugin.training import ResumableMovingAverage
from elmo_plugin.training.checkpointer import AtomicCheckpointer

BATCHES = 7  # in an epoch
STEPS = 4  # of two batches, the last of one


class StatefulModel(Model):
    """Carries a hidden state from batch to batch, and draws from every random number generator."""

    num_negatives = None

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.layer = torch.nn.Linear(3, 3)
        self._hidden = torch.zeros(2, 3)
        self._total, self._batches = 0.0, 0

    def forward(
        self, inputs: torch.Tensor, forward_targets: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        hidden = torch.tanh(
            self.layer(inputs + (self._hidden.to(inputs.device) if self.training else 0))
        )
        if self.training:
            self._hidden = hidden.detach()
            hidden = torch.dropout(hidden, 0.3, train=True) * (
                1 + random.random() + np.random.rand()
            )
        loss = (hidden - forward_targets).square().mean()
        self._total += loss.item()
        self._batches += 1
        return {"loss": loss}

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        average = self._total / max(self._batches, 1)
        if reset:
            self._total, self._batches = 0.0, 0
        return {"perplexity": average}

    def stream_state(self) -> dict[str, Any]:
        return {"hidden": self._hidden, "total": self._total, "batches": self._batches}

    def load_stream_state(self, state: dict[str, Any]) -> None:
        self._hidden, self._total, self._batches = state["hidden"], state["total"], state["batches"]


class PlaceKeepingLoader(DataLoader):
    """Random numbers, others in each epoch."""

    def __init__(self, num_batches: int = BATCHES) -> None:
        self.fingerprint = {"text": "random numbers", "vocabulary": "none"}
        self._num_batches = num_batches
        self._finished: list[int] = []
        self._done_before: list[int] = []

    def __len__(self) -> int:
        return self._num_batches

    def progress(self) -> list[int]:
        return list(self._finished)

    def resume(self, finished_epochs: list[int], batches: int) -> None:
        self._done_before = [*finished_epochs, batches]

    @overrides
    def __iter__(self) -> Iterator[TensorDict]:
        number = len(self._finished)
        done_before = self._done_before[number] if number < len(self._done_before) else 0
        rank = distributed.get_rank() if is_distributed() else 0
        data = torch.randn(
            len(self), 2, 2, 3, generator=torch.Generator().manual_seed(2 * number + rank)
        )
        data = data.to(self._device)
        for batch, (inputs, targets) in enumerate(data):
            if batch < done_before:
                yield {}
                continue
            yield {"inputs": inputs, "forward_targets": targets}
        self._finished.append(len(self))

    def iter_instances(self) -> Iterator[Instance]:
        return iter(())

    def index_with(self, vocab: Vocabulary) -> None:
        pass

    def set_target_device(self, device: torch.device) -> None:
        self._device = device


class FixedLoader(PlaceKeepingLoader):
    """The same two batches in each epoch, to validate on."""

    @overrides
    def __iter__(self) -> Iterator[TensorDict]:
        self._finished = []
        return super().__iter__()


def make_trainer(
    folder: Path,
    num_epochs: int = 3,
    optimizer: type[torch.optim.Optimizer] = torch.optim.AdamW,
    checkpoints: dict[str, Any] | None = None,
    averages: bool = False,
    scales: bool = False,
    **options: Any,
) -> BiLmTrainer:
    """
    What `allennlp train` would make from a configuration, its seeds set. With `scales` its loss is
    scaled, as in mixed precision on a GPU.
    """
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    model = StatefulModel()
    device = torch.device(options.get("cuda_device", "cpu"))
    wrapped = None
    if options.get("distributed"):
        _, wrapped = TorchDdpAccelerator(local_rank=options["local_rank"], world_size=2).wrap_model(
            model
        )
    optimizer = optimizer(model.to(device).parameters(), lr=0.1)
    defaults = {
        "validation_data_loader": FixedLoader(2),
        "validation_metric": "-perplexity",
        "num_epochs": num_epochs,
        "serialization_dir": str(folder),
        "checkpointer": AtomicCheckpointer(
            folder, **(checkpoints or {"save_every_num_batches": 1})
        ),
        "cuda_device": -1,
        "num_gradient_accumulation_steps": 2,
        "grad_norm": 1.0,
        "learning_rate_scheduler": LinearWithWarmup(optimizer, num_epochs, STEPS, warmup_steps=3),
        "moving_average": ResumableMovingAverage(model.named_parameters(), 0.9)
        if averages
        else None,
        "enable_default_callbacks": False,
        "run_confidence_checks": False,
        "ddp_wrapped_model": wrapped,
    }
    trainer = BiLmTrainer(model, optimizer, PlaceKeepingLoader(), **{**defaults, **options})
    if scales:
        trainer._scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=4)
    return trainer
