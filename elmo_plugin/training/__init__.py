"""Parts of a training that a configuration names, for any of AllenNLP's models."""

from elmo_plugin.training.autocast import BFloat16Training, bfloat16_autocast
from elmo_plugin.training.fraction_reader import FractionReader
from elmo_plugin.training.layer_weights import ElmoWeightsCallback
from elmo_plugin.training.learning_rate import DecayInSteps
from elmo_plugin.training.moving_average import ResumableMovingAverage
from elmo_plugin.training.updates import UPDATES, UpdatesCallback

__all__ = [
    "UPDATES",
    "BFloat16Training",
    "DecayInSteps",
    "ElmoWeightsCallback",
    "FractionReader",
    "ResumableMovingAverage",
    "UpdatesCallback",
    "bfloat16_autocast",
]
