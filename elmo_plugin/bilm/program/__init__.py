"""A biLM for torch without this package."""

from elmo_plugin.bilm.program.export import export_program

__all__ = ["export_program"]
