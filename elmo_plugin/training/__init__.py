"""A learning rate schedule and a moving average that any AllenNLP trainer can use."""

from elmo_plugin.training.learning_rate import DecayInSteps
from elmo_plugin.training.moving_average import ResumableMovingAverage

__all__ = ["DecayInSteps", "ResumableMovingAverage"]
