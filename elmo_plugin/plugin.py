"""What `.allennlp_plugins` names: importing it registers all that a configuration may name."""

from elmo_plugin import language_model, shims
from elmo_plugin.analysis import callback
from elmo_plugin.commands import embed
from elmo_plugin.commands.analysis import neighbors, probe, senses
from elmo_plugin.commands.bilm import average, export, perplexity, vocab
from elmo_plugin.commands.models import answer, ensemble, score, sweep, weights
from elmo_plugin.embedding import indexer, token_embedder
from elmo_plugin.encoders import contextual_encoder, highway_lstm, variational_bilstm
from elmo_plugin.sweeps import updates
from elmo_plugin.tasks import coref, fraction_reader, ner, snli, squad, srl, sst, training
from elmo_plugin.tasks import ensemble as ensemble_model

shims.apply()
