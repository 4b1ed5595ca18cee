"""The LSTMs of the biLM: their layers, and several ways to run them."""

from elmo_plugin.bilm.lstm.directional import RECURRENCES, DirectionalLstm, run_layers, stack_states
from elmo_plugin.bilm.lstm.layer import LstmState, ProjectedLstmLayer, Recurrence
from elmo_plugin.bilm.lstm.state import BiLmState, initial_state, map_state, of_layers, select

__all__ = [
    "RECURRENCES",
    "BiLmState",
    "DirectionalLstm",
    "LstmState",
    "ProjectedLstmLayer",
    "Recurrence",
    "initial_state",
    "map_state",
    "of_layers",
    "run_layers",
    "select",
    "stack_states",
]
