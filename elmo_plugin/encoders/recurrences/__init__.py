"""Recurrent layers over packed rows. Their gradients are a few large products instead of many small ones."""

from elmo_plugin.encoders.recurrences.both_directions import read_both_ways, read_by_torch
from elmo_plugin.encoders.recurrences.gru import GruRecurrence
from elmo_plugin.encoders.recurrences.highway import HighwayRecurrence
from elmo_plugin.encoders.recurrences.lstm import LstmRecurrence

__all__ = [
    "GruRecurrence",
    "HighwayRecurrence",
    "LstmRecurrence",
    "read_both_ways",
    "read_by_torch",
]
