"""Several configurations and seeds, each trained once, and their scores."""

from elmo_plugin.sweeps.scores import draw, table
from elmo_plugin.sweeps.trainings import Metric, read_metrics, train, with_seed

__all__ = [
    "Metric",
    "draw",
    "read_metrics",
    "table",
    "train",
    "with_seed",
]
