"""A learning rate that decays with the number of batches."""

import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from overrides import overrides


@LearningRateScheduler.register("decay_in_steps")
class DecayInSteps(LearningRateScheduler):
    """
    Multiplies the learning rate by `factor` after every `num_batches` updates, as TensorFlow's
    `exponential_decay` does with `staircase=True`. AllenNLP's `step` and `exponential` count epochs.

    Registered as a `LearningRateScheduler` with name "decay_in_steps".

    # Parameters

    factor : `float`
        The factor of each decay.
    num_batches : `int`
        The number of updates between two decays.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, *, factor: float, num_batches: int, last_epoch: int = -1
    ) -> None:
        self.factor = factor
        self.num_batches = num_batches
        self.update = 1  # the next one
        super().__init__(optimizer, last_epoch)

    @overrides
    def get_values(self) -> list[float]:
        decay = self.factor ** ((self.update - 1) // self.num_batches)
        return [base * decay for base in self.base_values]

    @overrides
    def step(self, metric: float | None = None) -> None:
        """Does nothing: the learning rate does not depend on epochs."""

    @overrides
    def step_batch(self, batch_num_total: int | None = None) -> None:
        """Sets the learning rate of update `batch_num_total`, from 1; AllenNLP calls it before the update."""
        self.update = self.update + 1 if batch_num_total is None else batch_num_total
        for group, value in zip(self.optimizer.param_groups, self.get_values(), strict=True):
            group[self.param_group_field] = value
