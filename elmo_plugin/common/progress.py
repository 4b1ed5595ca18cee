"""Bars that show how far some work is."""

import sys
from typing import Any

from tqdm import tqdm

LINE_INTERVAL = 2.0  # seconds from one line to the next


class _Lines:
    """A stream on which each state of a bar is a line of its own."""

    def write(self, text: str) -> None:
        if text := text.strip("\r\n"):
            print(text, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def progress_bar(as_lines: bool | None = None, **options: Any) -> tqdm:
    """
    Returns a bar of tqdm.

    # Parameters

    as_lines : `bool | None`, optional (default = `None`)
        Whether it begins a new line every two seconds; `None` to do so where standard error is no terminal.
    options
        Those of `tqdm`.
    """
    if as_lines is None:
        as_lines = not sys.stderr.isatty()
    return tqdm(file=_Lines(), mininterval=LINE_INTERVAL, **options) if as_lines else tqdm(**options)
