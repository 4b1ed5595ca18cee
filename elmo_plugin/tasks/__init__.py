"""The task models, one folder each. No task imports another."""

from elmo_plugin.tasks.ensemble import Ensemble

__all__ = [
    "Ensemble",
]
