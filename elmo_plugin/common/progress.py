"""Progress bars."""

import logging
import sys
from typing import TYPE_CHECKING, Any

from elmo_plugin.common.streams import show, visible_line

if TYPE_CHECKING:
    from tqdm import tqdm

LINE_INTERVAL = 2.0  # seconds from one line to the next


class _Lines:
    """A stream that prints each state of a bar on its own line."""

    def write(self, text: str) -> None:
        line = text.strip("\r\n")
        if line:
            show(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def is_quiet() -> bool:
    """
    Returns whether the package's logger shows no warnings, as with `elmo --quiet`, and no bars.
    """
    return not logging.getLogger("elmo_plugin").isEnabledFor(logging.WARNING)


def progress_bar(**options: Any) -> "tqdm":
    """Returns a bar of tqdm, or a line every two seconds if standard error is not a terminal."""
    from tqdm import tqdm  # here, because `elmo --help` would wait for it

    options["desc"] = visible_line(options.get("desc") or "") or None
    if not sys.stderr.isatty():
        options["file"] = _Lines()
        options["mininterval"] = LINE_INTERVAL
    options["disable"] = options.get("disable") or is_quiet()
    return tqdm(**options)


def describe_seconds(seconds: float) -> str:
    """Returns a time in words: 40 s, 3 min or 2 h 10 min."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
