"""Several configurations and seeds, each trained once, and their scores."""

from elmo_plugin.sweeps.cluster import train_in_processes
from elmo_plugin.sweeps.sample_efficiency import (
    Reach,
    curve_table,
    curves_of_results,
    draw_curves,
    find_reaches,
    reaches_text,
)
from elmo_plugin.sweeps.scores import Metric, draw, summary, table
from elmo_plugin.sweeps.trainings import (
    Outcome,
    Training,
    find_trainings,
    read_metrics,
    read_provenance,
    train,
    with_seed,
)

__all__ = [
    "Metric",
    "Outcome",
    "Reach",
    "Training",
    "curve_table",
    "curves_of_results",
    "draw",
    "draw_curves",
    "find_reaches",
    "find_trainings",
    "reaches_text",
    "read_metrics",
    "read_provenance",
    "summary",
    "table",
    "train",
    "train_in_processes",
    "with_seed",
]
