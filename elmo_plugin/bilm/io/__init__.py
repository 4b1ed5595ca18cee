"""Files that biLMs are read from and written to, and the ladder of sources that a biLM can come
from.
"""

from elmo_plugin.bilm.io.card import Card
from elmo_plugin.bilm.io.checkpoint import Checkpoint, weights_digest, write_card, write_files
from elmo_plugin.bilm.io.hdf5_weights import DTYPES
from elmo_plugin.bilm.io.layouts import TensorMapping, highway_mappings, lstm_mappings
from elmo_plugin.bilm.io.softmax_weights import UNKNOWN_WORDS, SoftmaxWeights
from elmo_plugin.bilm.io.sources import BUNDLED_MODELS, MODELS, Source, read_checkpoint
from elmo_plugin.bilm.io.training_archive import (
    WEIGHTS_NAMES,
    check_weights,
    options_from_state,
    read_state,
    weights_file,
)
