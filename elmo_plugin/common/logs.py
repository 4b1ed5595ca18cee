"""
Loggers and a formatter whose lines cannot control a terminal, whatever file they quote.

The commands of `elmo` format the lines of all packages. In `allennlp train`, this package is only a
plugin: there, it filters the records of its own loggers, and touches no handlers or other records.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from elmo_plugin.common.streams import visible, visible_line

PACKAGE_LOGGER = logging.getLogger("elmo_plugin")
"""The loggers of all modules of this package have its level."""


def get_logger(name: str) -> logging.Logger:
    """
    Returns the logger of a module of this package. Each message of it is one line, without
    characters that control a terminal, in whatever way the program shows its log.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_make_visible)  # `addFilter` does nothing if the logger has it already
    return logger


def _make_visible(record: logging.LogRecord) -> bool:
    """Replaces the message of a record by its `visible_line`. As a filter, keeps every record."""
    record.msg = visible_line(record.getMessage())
    record.args = None  # they are in the message now
    return True


class VisibleFormatter(logging.Formatter):
    """Formats a record, of any package, so that it cannot control a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))  # a traceback may follow the message


@contextmanager
def log_level(level: int) -> Iterator[None]:
    """Sets the level of this package's log within the block. Other packages log as before."""
    level_before = PACKAGE_LOGGER.level
    PACKAGE_LOGGER.setLevel(level)
    try:
        yield
    finally:
        PACKAGE_LOGGER.setLevel(level_before)


def show_log(verbose: bool) -> None:
    """
    Shows the warnings of all packages on standard error; with `verbose`, all records that their
    loggers let through. Does nothing if the program has set up logging itself.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(message)s"))
    if not verbose:
        handler.setLevel(logging.WARNING)
    root.addHandler(handler)


def close_log_files() -> None:
    """
    Closes the log files that AllenNLP left open when its trainings ended, so that their folders can
    be moved or removed.
    """
    # AllenNLP writes the log to the root logger, and progress bars to tqdm's.
    for logger in (logging.getLogger(), logging.getLogger("tqdm")):
        for handler in list(logger.handlers):
            # AllenNLP's handlers are plain `FileHandler`s. A handler of a subclass, such as a
            # `RotatingFileHandler`, belongs to another program.
            if type(handler) is logging.FileHandler:
                logger.removeHandler(handler)
                handler.close()
