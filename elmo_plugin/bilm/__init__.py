"""The bidirectional language model: plain torch, numpy and h5py, usable with no AllenNLP installed."""

from elmo_plugin.bilm.bilm import BiLm, BiLmOutput
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.loading import load_bilm
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.state import BiLmState

__all__ = [
    "BiLm",
    "BiLmError",
    "BiLmOptions",
    "BiLmOutput",
    "BiLmState",
    "CharCnnOptions",
    "LstmOptions",
    "load_bilm",
]
