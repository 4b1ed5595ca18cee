"""The standard streams: open, able to print all characters, and harmless to the terminal."""

import io
import os
import re
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# C0 but for tab and line feed, DEL, C1, and changes of the direction of writing.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def open_missing_streams() -> None:
    """
    Opens the null device in place of closed standard streams, whose numbers the next files would
    get.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # has the lowest number that is free
        if number and getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the process)


def escape_unencodable_characters() -> None:
    r"""
    Makes the output streams write `\xe9`, and raise no error, for an é outside their encoding.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def ending_unread() -> Iterator[None]:
    """
    Ends the process without a word where nobody reads its output any more (`elmo … | head`), as
    other tools end. SIGPIPE stays ignored: it would also come from the sockets of a server or a
    cluster.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not is_unread():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes the rest at its end
        sys.exit(128 + signal.SIGPIPE)


def is_unread() -> bool:
    """Returns whether standard output is a pipe that nobody reads any more."""
    if not hasattr(select, "poll"):  # on Windows
        return False
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def visible(text: object) -> str:
    r"""
    Returns a text with visible escapes, such as `\x1b`, for characters that control a terminal.
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], str(text))


def show(*texts: object, **options: Any) -> None:
    """Prints for people to read: calls `print` with the `visible` texts."""
    print(*map(visible, texts), **options)


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Shows rows of cells, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        show("  ".join(map(str.ljust, row, widths)).rstrip())
