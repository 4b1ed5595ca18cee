"""The LSTMs of the biLM: their layers, and several ways to run them."""

from elmo_plugin.bilm.recurrence.layers import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.recurrence.stack import RECURRENCES, DirectionalLm, run_stack, stack_states

__all__ = [
    "RECURRENCES",
    "DirectionalLm",
    "LstmState",
    "ProjectedLstmLayer",
    "Recurrence",
    "run_stack",
    "stack_states",
]
