"""Progress bars."""

import logging
import sys
import warnings
from typing import TYPE_CHECKING, Any

from elmo_plugin.common.logs import PACKAGE_LOGGER
from elmo_plugin.common.streams import show, visible_line

if TYPE_CHECKING:
    from tqdm import tqdm

LINE_INTERVAL = 2.0  # seconds from one line to the next


class _LineForEachState:
    """A stream for tqdm that prints each state of a bar on its own line of standard error."""

    def write(self, text: str) -> None:
        line = text.strip("\r\n")  # tqdm writes "\r" to begin the same line again
        if line:
            show(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def is_quiet() -> bool:
    """
    Returns whether nothing but errors should be shown, as with `elmo --quiet`: then the package's
    logger lets no warnings through.
    """
    return not PACKAGE_LOGGER.isEnabledFor(logging.WARNING)


def _in_notebook() -> bool:
    """Returns whether standard error is shown below a cell of a notebook."""
    return type(sys.stderr).__module__ == "ipykernel.iostream"


def progress_bar(**options: Any) -> "tqdm":
    """
    Returns a progress bar of tqdm, made with its `options`. On a terminal, the bar is one line that
    changes. In a notebook, it is a widget, or one line if ipywidgets is not installed. Elsewhere,
    as in a log file, it prints a new line every two seconds. With `elmo --quiet`, it shows nothing.
    """
    from tqdm import TqdmWarning  # imported here, because `elmo --help` would wait for it

    with warnings.catch_warnings():
        # Without ipywidgets, tqdm warns that it shows text in a notebook.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm

    if options.get("desc"):
        options["desc"] = visible_line(options["desc"])  # it may quote the name of a file
    if not sys.stderr.isatty() and not _in_notebook():
        options["file"] = _LineForEachState()
        options["mininterval"] = LINE_INTERVAL
    if is_quiet():
        options["disable"] = True
    return tqdm(**options)


def describe_seconds(seconds: float) -> str:
    """Returns a time in words: 40 s, 3 min or 2 h 10 min."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
