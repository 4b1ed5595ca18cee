"""Configurations and archives of AllenNLP 0.x and 1.x, changed so that AllenNLP 2.10.1 takes
them.
"""

from elmo_plugin.migration.porting.rules import Note, note_on_first_old_key, port_config

__all__ = ["Note", "note_on_first_old_key", "port_config"]
