"""Parts of a training that a configuration names, for any of AllenNLP's models."""

from elmo_plugin.training.callbacks import BFloat16Training, bfloat16_autocast
from elmo_plugin.training.checkpointer import AtomicCheckpointer
from elmo_plugin.training.layer_weights import ElmoWeightsCallback
from elmo_plugin.training.recovery import check_recovery
from elmo_plugin.training.resumable import ResumableTrainer
from elmo_plugin.training.schedules import DecayInSteps, ResumableMovingAverage
