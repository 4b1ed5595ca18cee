"""A moving average of a model's weights that goes on after a training was stopped."""

from typing import Any

from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from overrides import overrides


@MovingAverage.register("ema")
class ResumableMovingAverage(ExponentialMovingAverage):
    """
    AllenNLP's `exponential` average, which validation, early stopping and the archive use in place of the
    weights. That one stores the parameters themselves in a checkpoint and, after `--recover`, averages these
    copies, which nothing trains any more; this one stores the averages alone, by the names of parameters.

    Registered as a `MovingAverage` with name "ema".

    # Parameters

    parameters : `Iterable[tuple[str, Parameter]]`
        The trainer gives them; they are not for configurations.
    decay, numerator, denominator : `float`
        See `ExponentialMovingAverage`: the first steps have a lower decay, as in TensorFlow.
    """

    @overrides
    def state_dict(self) -> dict[str, Any]:
        return {"shadows": self._shadows}

    @overrides
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, shadow in self._shadows.items():
            shadow.copy_(state_dict["shadows"][name])
