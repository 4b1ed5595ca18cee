"""A learning rate that decays with the number of batches, and a moving average of weights that
resumes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from overrides import overrides


@LearningRateScheduler.register("decay_in_steps")
class DecayInSteps(LearningRateScheduler):
    """
    Multiplies the learning rate by `factor` after every `num_batches` updates, as TensorFlow's
    `exponential_decay` does with `staircase=True`. AllenNLP's `step` and `exponential` count
    epochs.

    Registered as a `LearningRateScheduler` with name "decay_in_steps".

    # Parameters

    factor : `float`
        The learning rate is multiplied by this number at each decay.
    num_batches : `int`
        The number of updates between two decays.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        factor: float,
        num_batches: int,
        last_epoch: int = -1,
    ) -> None:
        self.factor = factor
        self.num_batches = num_batches
        self.update_number = 1  # of the next update; the first one is 1
        super().__init__(optimizer, last_epoch)

    @overrides
    def get_values(self) -> list[float]:
        decay = self.factor ** ((self.update_number - 1) // self.num_batches)
        return [base * decay for base in self.base_values]

    @overrides
    def step(self, metric: float | None = None) -> None:
        """Does nothing: the learning rate does not depend on epochs."""

    @overrides
    def step_batch(self, batch_num_total: int | None = None) -> None:
        """
        Sets the learning rate for the update that comes next. AllenNLP calls this method before
        each update, with its number, `batch_num_total`, counted from 1.
        """
        if batch_num_total is None:
            self.update_number += 1
        else:
            self.update_number = batch_num_total
        for group, value in zip(self.optimizer.param_groups, self.get_values(), strict=True):
            group[self.param_group_field] = value


@MovingAverage.register("ema")
class ResumableMovingAverage(ExponentialMovingAverage):
    """
    AllenNLP's `exponential` average, used in validation, early stopping and the archive instead of
    the weights, with a checkpoint that can be resumed: it stores the averages by the names of the
    parameters. AllenNLP stores the parameters as well and, after `--recover`, averages these
    untrained copies.

    Registered as a `MovingAverage` with name "ema".

    # Parameters

    decay, numerator, denominator : `float`
        See `ExponentialMovingAverage`: the first steps have a lower decay, as in TensorFlow.
    """

    @overrides
    def apply(self, num_updates: int | None = None) -> None:
        """
        Updates the averages. Unlike AllenNLP's method, this one reads and writes each average only
        once, instead of three times.
        """
        decay = self._decay
        if num_updates is not None:
            decay = min(decay, (self._numerator + num_updates) / (self._denominator + num_updates))
        for name, parameter in self._parameters:
            self._shadows[name].lerp_(parameter.data, 1 - decay)

    @overrides
    def state_dict(self) -> dict[str, Any]:
        return {"shadows": self._shadows}

    @overrides
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, shadow in self._shadows.items():
            shadow.copy_(state_dict["shadows"][name])


@contextmanager
def averaged_weights(average: MovingAverage | None) -> Iterator[None]:
    """
    Gives the model its averaged weights within a `with` block. If `average` is `None`, the weights
    are not averaged, and do not change.
    """
    if average is None:
        yield
        return
    average.assign_average_value()
    try:
        yield
    finally:
        average.restore()
