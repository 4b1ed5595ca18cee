"""What `.allennlp_plugins` names: importing it registers all that a configuration may name."""

from elmo_plugin import compat
from elmo_plugin.analysis import callback
from elmo_plugin.commands import average, embed, ensemble, export, perplexity, sweep, vocab, weights
from elmo_plugin.embedding import indexer, token_embedder
from elmo_plugin.modules import contextual_encoder, penn_treebank_tokenizer, variational_bilstm
from elmo_plugin.modules import ensemble as ensemble_model
from elmo_plugin.tasks import language_modeling, ner, snli, sst

__all__ = [
    "average",
    "callback",
    "compat",
    "contextual_encoder",
    "embed",
    "ensemble",
    "ensemble_model",
    "export",
    "indexer",
    "language_modeling",
    "ner",
    "penn_treebank_tokenizer",
    "perplexity",
    "snli",
    "sst",
    "sweep",
    "token_embedder",
    "variational_bilstm",
    "vocab",
    "weights",
]

compat.apply()
