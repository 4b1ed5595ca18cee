"""What trainings of tasks need that AllenNLP lacks or has with a fault."""

from elmo_plugin.tasks.training.learning_rate import DecayInSteps
from elmo_plugin.tasks.training.moving_average import ResumableMovingAverage

__all__ = ["DecayInSteps", "ResumableMovingAverage"]
