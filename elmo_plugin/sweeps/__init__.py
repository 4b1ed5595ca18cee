"""Several configurations and seeds, each trained once, and their scores."""

from elmo_plugin.sweeps.scores import Metric, draw, summary, table
from elmo_plugin.sweeps.trainings import Training, find_trainings, read_metrics, train, with_seed

__all__ = [
    "Metric",
    "Training",
    "draw",
    "find_trainings",
    "read_metrics",
    "summary",
    "table",
    "train",
    "with_seed",
]
