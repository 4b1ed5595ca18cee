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


def progress_bar(as_lines: bool = False, **options: Any) -> tqdm:
    """
    Returns a bar of tqdm.

    # Parameters

    as_lines : `bool`, optional (default = `False`)
        Whether it is written to a file, where it begins a new line every two seconds.
    options
        Those of `tqdm`.
    """
    return tqdm(file=_Lines(), mininterval=LINE_INTERVAL, **options) if as_lines else tqdm(**options)
