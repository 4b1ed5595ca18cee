"""The `allennlp elmo-...` subcommands."""

from elmo_plugin.commands.export import ElmoExport
from elmo_plugin.commands.perplexity import ElmoPerplexity
from elmo_plugin.commands.vocab import ElmoVocab

__all__ = ["ElmoExport", "ElmoPerplexity", "ElmoVocab"]
