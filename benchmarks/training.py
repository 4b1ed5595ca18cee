"""Shared parts of the training benchmarks: loaders, a vocabulary, endless batches, learners."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import DataLoader, Vocabulary
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer
from torch import nn
from train_step import train_step

from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.reader import BiLmTextReader

NAMESPACE = "words"


def make_loader(config: dict[str, Any], path: str, folder: str, device: str = "cpu") -> BiLmStreamLoader:
    """One of the data loaders of a configuration, with prepared text in a temporary folder."""
    params = Params({**config, "cache_directory": folder})
    reader = BiLmTextReader(namespace=NAMESPACE)
    loader = DataLoader.from_params(params=params, reader=reader, data_path=path)
    loader.set_target_device(torch.device(device))
    return loader


def frequent_words(loader: DataLoader, most: int) -> Vocabulary:
    """The most frequent words of its text, sentence boundaries among them, the most frequent first."""
    return Vocabulary.from_instances(loader.iter_instances(), max_vocab_size={NAMESPACE: most})


def passes(loader: DataLoader) -> Iterator[dict[str, Any]]:
    """Its batches, pass after pass, without end."""
    while True:
        yield from loader


class Learner:
    """A network in training, as the `trainer` of a configuration says, for a number of steps."""

    def __init__(
        self, model: nn.Module, trainer: dict[str, Any], steps: int, loss_scale: float = 1.0
    ) -> None:
        self.model = model
        self.optimizer = Optimizer.from_params(
            params=Params(deepcopy(trainer["optimizer"])), model_parameters=list(model.named_parameters())
        )
        self.schedule = None
        if trainer.get("learning_rate_scheduler"):
            self.schedule = LearningRateScheduler.from_params(
                params=Params(deepcopy(trainer["learning_rate_scheduler"])),
                optimizer=self.optimizer,
                num_epochs=1,
                num_steps_per_epoch=steps,
            )
        self.max_norm = trainer["grad_norm"]
        self.loss_scale = loss_scale

    def step(self, batch: dict[str, Any], number: int) -> float:
        """The loss, not scaled, of the step with this number, counted from 1."""
        loss = train_step(self.model, self.optimizer, batch, self.max_norm, self.loss_scale)
        if self.schedule is not None:
            self.schedule.step_batch(number)
        return loss.item()

    @torch.no_grad()
    def evaluate(self, batches: Iterable[dict[str, Any]]) -> dict[str, float]:
        self.model.eval()
        self.model.get_metrics(reset=True)  # in training
        for batch in batches:
            self.model(**batch)
        metrics = self.model.get_metrics(reset=True)
        self.model.train()
        return metrics
