"""Several configurations and seeds, each trained once, and their scores."""

from elmo_plugin.sweeps.cluster import train_in_processes
from elmo_plugin.sweeps.scores import Metric, find_metric, judge, results, summary, table
from elmo_plugin.sweeps.trainings import (
    Outcome,
    Training,
    find_trainings,
    read_configs,
    read_metrics,
    train,
    train_in_turn,
    with_seed,
)
