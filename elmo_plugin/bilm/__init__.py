"""The bidirectional language model: plain torch, numpy and h5py, usable with no AllenNLP installed."""

from elmo_plugin.bilm.autograd import Dropout, first_derivative_only
from elmo_plugin.bilm.batching import encode_unique_rows, pack, rows_before, rows_in_reverse, split_by_tokens
from elmo_plugin.bilm.char_maxima import convolve_by_length
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    BEGIN_WORD,
    END_SENTENCE_TOKEN,
    END_WORD,
    MAX_CHARACTERS_PER_TOKEN,
    PADDING,
    as_words,
    check_no_boundaries,
    in_order,
    sentences_to_character_ids,
    word_to_character_ids,
)
from elmo_plugin.bilm.layers import (
    LAYER_NAMES,
    Layers,
    check_layers,
    layer_numbers,
    mixing_weights,
    select_layers,
)
from elmo_plugin.bilm.lstm_cell import LstmState, map_state
from elmo_plugin.bilm.model import BiLm, Cache
from elmo_plugin.bilm.network import MAX_BATCH_TOKENS, BiLmOutput
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.precision import PRECISIONS, autocast_dtype, get_precision, multiply, precision_on
from elmo_plugin.bilm.softmax import VocabularySoftmax
from elmo_plugin.bilm.text import POOLINGS, TOKENIZERS, EncodedText, Tokenizer, check_encoding, make_tokenizer
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.typography import normalize_text

# What users import; the other rooms import the rest.
__all__ = [
    "BiLm",
    "BiLmError",
    "BiLmOptions",
    "BiLmOutput",
    "CharCnnOptions",
    "EncodedText",
    "LstmOptions",
    "LstmState",
    "select_layers",
]
