"""The LSTMs of the biLM: their layers, and several ways to run them."""

from elmo_plugin.bilm.lstm.directional import RECURRENCES, DirectionalLm, run_stack, stack_states
from elmo_plugin.bilm.lstm.layer import LstmState, ProjectedLstmLayer, Recurrence

__all__ = [
    "RECURRENCES",
    "DirectionalLm",
    "LstmState",
    "ProjectedLstmLayer",
    "Recurrence",
    "run_stack",
    "stack_states",
]
