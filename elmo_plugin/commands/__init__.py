"""The `allennlp elmo-...` subcommands."""

from elmo_plugin.commands.export import ElmoExport

__all__ = ["ElmoExport"]
