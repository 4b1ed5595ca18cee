"""The bidirectional language model: plain torch, numpy and h5py, usable with no AllenNLP installed."""

from elmo_plugin.bilm.bilm import BiLm, BiLmOutput, BiLmState
from elmo_plugin.bilm.errors import BiLmError
from elmo_plugin.bilm.loading import load_bilm
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LstmOptions

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
