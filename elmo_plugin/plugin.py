"""What `.allennlp_plugins` names: importing it registers all that a configuration may name."""

from elmo_plugin import language_model, shims
from elmo_plugin.analysis import callback
from elmo_plugin.commands import average, embed, ensemble, export, perplexity, score, sweep, vocab, weights
from elmo_plugin.embedding import indexer, token_embedder
from elmo_plugin.encoders import contextual_encoder, highway_lstm, variational_bilstm
from elmo_plugin.tasks import coref, learning_rate, ner, snli, srl, sst
from elmo_plugin.tasks import ensemble as ensemble_model

shims.apply()
