"""A learning rate that decays with the number of batches."""

import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from overrides import overrides


@LearningRateScheduler.register("decay_in_steps")
class DecayInSteps(LearningRateScheduler):
    """
    Multiplies the learning rate by `factor` after every `num_batches` batches, as TensorFlow's
    `exponential_decay` does with `staircase=True`. AllenNLP's `step` and `exponential` count epochs.

    Registered as a `LearningRateScheduler` with name "decay_in_steps".

    # Parameters

    optimizer : `torch.optim.Optimizer`
        Given by the trainer, not by a configuration.
    factor : `float`
        What the learning rate is multiplied by.
    num_batches : `int`
        After how many batches.
    last_epoch : `int`, optional (default = `-1`)
        See `LearningRateScheduler`.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, *, factor: float, num_batches: int, last_epoch: int = -1
    ) -> None:
        self.factor = factor
        self.num_batches = num_batches
        self.batches_done = 0
        super().__init__(optimizer, last_epoch)

    @overrides
    def get_values(self) -> list[float]:
        decay = self.factor ** (self.batches_done // self.num_batches)
        return [base * decay for base in self.base_values]

    @overrides
    def step(self, metric: float | None = None) -> None:
        """Does nothing: the learning rate does not depend on epochs."""

    @overrides
    def step_batch(self, batch_num_total: int | None = None) -> None:
        """Sets the learning rate for the next batch, after `batch_num_total` batches."""
        self.batches_done = self.batches_done + 1 if batch_num_total is None else batch_num_total
        for group, value in zip(self.optimizer.param_groups, self.get_values(), strict=True):
            group[self.param_group_field] = value
