"""The bidirectional language model: plain torch, numpy and h5py, usable with no AllenNLP installed."""

from elmo_plugin.bilm.bilm import BiLm, BiLmOutput
from elmo_plugin.bilm.io.sources import load_bilm
from elmo_plugin.bilm.lstm.state import BiLmState
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.common.errors import BiLmError

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
