"""What `.allennlp_plugins` names: importing it registers all that a configuration may name."""

from elmo_plugin import compat
from elmo_plugin.commands import average, export, perplexity, vocab
from elmo_plugin.embedding import indexer, token_embedder
from elmo_plugin.modules import contextual_encoder, variational_bilstm
from elmo_plugin.tasks import language_modeling, ner

__all__ = [
    "average",
    "compat",
    "contextual_encoder",
    "export",
    "indexer",
    "language_modeling",
    "ner",
    "perplexity",
    "token_embedder",
    "variational_bilstm",
    "vocab",
]

compat.apply()
