"""Checks around what AllenNLP itself reads, writes and takes for granted.

`elmo_plugin.plugin` installs all of them. Each takes the place of one of AllenNLP's functions, calls it, and
changes nothing for files and arguments that are right.
"""

from elmo_plugin.guards import archives, arguments, checkpoints, prediction

__all__ = ["install"]


def install() -> None:
    """Installs every check. To do so twice is harmless."""
    for guard in (archives, arguments, checkpoints, prediction):
        guard.install()
