"""A moving average of a model's weights that can be resumed."""

from typing import Any

from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from overrides import overrides


@MovingAverage.register("ema")
class ResumableMovingAverage(ExponentialMovingAverage):
    """
    AllenNLP's `exponential` average, which validation, early stopping and the archive use instead of the
    weights, with a checkpoint that can be resumed. AllenNLP stores the parameters themselves and, after
    `--recover`, averages these copies, which are not trained. This class stores only the averages, by the
    names of the parameters.

    Registered as a `MovingAverage` with name "ema".

    # Parameters

    parameters : `Iterable[tuple[str, Parameter]]`
        Given by the trainer, not by a configuration.
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
