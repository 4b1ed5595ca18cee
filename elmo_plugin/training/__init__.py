"""Learning rates and moving averages that AllenNLP lacks or has with a fault."""

from elmo_plugin.training.learning_rate import DecayInSteps
from elmo_plugin.training.moving_average import ResumableMovingAverage

__all__ = ["DecayInSteps", "ResumableMovingAverage"]
