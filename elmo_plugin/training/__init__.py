"""Parts for AllenNLP's trainer: learning rates, moving averages, bfloat16."""

from elmo_plugin.training.autocast import BFloat16Training, bfloat16_autocast
from elmo_plugin.training.learning_rate import DecayInSteps
from elmo_plugin.training.moving_average import ResumableMovingAverage

__all__ = ["BFloat16Training", "DecayInSteps", "ResumableMovingAverage", "bfloat16_autocast"]
