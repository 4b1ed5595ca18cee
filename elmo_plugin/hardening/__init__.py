"""Makes AllenNLP's own commands and files safer, by replacing functions of AllenNLP when it is imported.

A project lists `elmo_plugin.hardening` in `.allennlp_plugins` next to `elmo_plugin.plugin`. Each
replacement calls the function that it replaces, and changes nothing for valid files and arguments.
`docs/hardening.md` lists them all, and why.
"""

from elmo_plugin.hardening import (
    archives,
    arguments,
    checkpoints,
    configurations,
    console,
    output_files,
    prediction,
)

__all__ = [
    "archives",
    "arguments",
    "checkpoints",
    "configurations",
    "console",
    "output_files",
    "prediction",
]
