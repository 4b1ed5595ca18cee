"""Registers with AllenNLP everything that a configuration may name."""

from elmo_plugin.common.errors import NEEDS_ALLENNLP

try:
    import allennlp
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"elmo_plugin.plugin {NEEDS_ALLENNLP}", name=error.name) from None

from elmo_plugin import shims, training
from elmo_plugin.embedding import token_embedder, word_vectors
from elmo_plugin.encoders import bidirectional, character_cnn, contextual_encoder, highway_lstm
from elmo_plugin.language_model import loader, model, progress, trainer
from elmo_plugin.migration.old_layers import (
    augmented_lstm,
    cached_words,
    cnn,
    dot_product,
    old_words,
)
from elmo_plugin.tasks import coref, ner, snli, squad, srl, sst, task_model, vocabulary

shims.apply()
