"""A moving average of a model's weights that can be resumed."""

from typing import Any

from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from overrides import overrides


@MovingAverage.register("ema")
class ResumableMovingAverage(ExponentialMovingAverage):
    """
    AllenNLP's `exponential` average, used in validation, early stopping and the archive instead of the
    weights, with a checkpoint that can be resumed: it stores the averages by the names of the parameters.
    AllenNLP stores the parameters as well and, after `--recover`, averages these untrained copies.

    Registered as a `MovingAverage` with name "ema".

    # Parameters

    decay, numerator, denominator : `float`
        See `ExponentialMovingAverage`: the first steps have a lower decay, as in TensorFlow.
    """

    @overrides
    def apply(self, num_updates: int | None = None) -> None:
        """Reads and writes each average once, not three times as AllenNLP does."""
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
