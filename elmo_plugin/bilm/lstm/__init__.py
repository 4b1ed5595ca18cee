"""The LSTMs of the biLM: their layers, their states, and several ways to run them."""

from elmo_plugin.bilm.lstm.directional import RECURRENCES, DirectionalLstm, run_layers
from elmo_plugin.bilm.lstm.layer import FORGET_BIAS, LstmLayer, LstmWeights
from elmo_plugin.bilm.lstm.recurrence import Recurrence
from elmo_plugin.bilm.lstm.state import (
    BiLmState,
    LstmState,
    concat_states,
    map_state,
    merge_state,
    pad_state,
    select_state,
    stack_layers,
)

__all__ = [
    "FORGET_BIAS",
    "RECURRENCES",
    "BiLmState",
    "DirectionalLstm",
    "LstmLayer",
    "LstmState",
    "LstmWeights",
    "Recurrence",
    "concat_states",
    "map_state",
    "merge_state",
    "pad_state",
    "run_layers",
    "select_state",
    "stack_layers",
]
