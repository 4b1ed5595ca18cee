"""Registers all classes and commands of this package with AllenNLP: the line for `.allennlp_plugins`."""

from elmo_plugin import register
from elmo_plugin.commands import subcommands
