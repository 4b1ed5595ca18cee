"""Files that biLMs are read from and written to, and the ladder of sources that a biLM can come from."""

from elmo_plugin.bilm.io.allennlp_layout import (
    bias_from_allennlp,
    bias_to_allennlp,
    join_highway,
    split_highway,
    swap_gates,
)
from elmo_plugin.bilm.io.hdf5_weights import DTYPES, SoftmaxWeights, write_weights
from elmo_plugin.bilm.io.pretrained import MODELS, fetch
from elmo_plugin.bilm.io.sources import OPTIONS_NAME, WEIGHTS_NAME, Checkpoint, read_checkpoint
from elmo_plugin.bilm.io.training_archive import (
    WEIGHTS_NAMES,
    ArchivedBiLm,
    load_plain,
    options_from_state,
    read_archive_with_softmax,
    read_state,
    replace_weights,
)

__all__ = [
    "DTYPES",
    "MODELS",
    "OPTIONS_NAME",
    "WEIGHTS_NAME",
    "WEIGHTS_NAMES",
    "ArchivedBiLm",
    "Checkpoint",
    "SoftmaxWeights",
    "bias_from_allennlp",
    "bias_to_allennlp",
    "fetch",
    "join_highway",
    "load_plain",
    "options_from_state",
    "read_archive_with_softmax",
    "read_checkpoint",
    "read_state",
    "replace_weights",
    "split_highway",
    "swap_gates",
    "write_weights",
]
