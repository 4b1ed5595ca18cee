"""The bidirectional language model: plain torch, numpy and h5py, usable with no AllenNLP
installed.
"""

from elmo_plugin.bilm.autograd import first_derivative_only
from elmo_plugin.bilm.batching import split_by_tokens, unique_rows
from elmo_plugin.bilm.characters import (
    BEGIN_SENTENCE_TOKEN,
    BEGIN_WORD,
    END_SENTENCE_TOKEN,
    END_WORD,
    MAX_CHARACTERS_PER_TOKEN,
    PADDING,
    check_no_boundaries,
    sentences_to_character_ids,
    word_to_character_ids,
)
from elmo_plugin.bilm.convolutions import convolve_by_length
from elmo_plugin.bilm.dropout import Dropout
from elmo_plugin.bilm.encoded_text import EncodedText
from elmo_plugin.bilm.encoding import (
    POOLINGS,
    TOKENIZERS,
    Tokenizer,
    check_encoding,
    make_tokenizer,
)
from elmo_plugin.bilm.inputs import as_words, listed_items
from elmo_plugin.bilm.layers import (
    LAYER_NAMES,
    Layers,
    check_layers,
    layer_numbers,
    mixing_weights,
    select_layers,
)
from elmo_plugin.bilm.lstm_state import LstmState
from elmo_plugin.bilm.model import BiLm
from elmo_plugin.bilm.network import MAX_BATCH_TOKENS, BiLmOutput, Cache, check_cache
from elmo_plugin.bilm.options import BiLmOptions, CharCnnOptions, LstmOptions
from elmo_plugin.bilm.packing import pack, rows_before, rows_in_reverse
from elmo_plugin.bilm.precision import PRECISIONS, get_precision, precision_on
from elmo_plugin.bilm.products import autocast_dtype, multiply
from elmo_plugin.bilm.softmax import VocabularySoftmax
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.typography import normalize_text
