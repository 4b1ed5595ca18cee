"""The layers and the decoder that task models are made of."""

from elmo_plugin.encoders.bidirectional import BidirectionalGru, VariationalBiLstm
from elmo_plugin.encoders.character_cnn import CharacterCnn
from elmo_plugin.encoders.contextual_encoder import ContextualEncoder, construct_encoder
from elmo_plugin.encoders.highway_lstm import HighwayLstm
from elmo_plugin.encoders.sequences import (
    biattention,
    bio_transitions,
    masked_attention,
    pool,
    self_biattention,
    viterbi,
)
from elmo_plugin.encoders.text_fields import slice_wrapping_dim, take_rows
