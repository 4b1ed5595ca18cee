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

# Characters that control a terminal: C0 without tab and line feed, DEL, C1, and those that change
# the direction of writing. Also halves of surrogate pairs: they stand for the bytes of a path that
# is not UTF-8, and no stream can encode them.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_STDOUT = 1  # its file descriptor
# Characters that begin a new line.
_LINE_END = re.compile("[\n\u2028\u2029]")


def open_missing_streams() -> None:
    """
    Opens the null device in place of closed standard streams. Otherwise the next file that is
    opened would get the descriptor of a stream, and be written to by `print`.
    """
    for descriptor in (0, 1, 2):  # standard input, output and error
        try:
            os.fstat(descriptor)
        except OSError:
            # The system gives the new file the lowest descriptor that is free: this one.
            os.open(os.devnull, os.O_WRONLY)
    for name in ("stdout", "stderr"):
        # When Python starts, it sets a stream to `None` if its descriptor is closed.
        if getattr(sys, name) is None:
            null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
            setattr(sys, name, null)


def escape_unencodable_characters() -> None:
    r"""
    Makes the output streams write `\xe9`, and raise no error, for an é outside their encoding.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def ending_if_unread() -> Iterator[None]:
    """
    Ends the process silently, with the status of SIGPIPE, if nobody reads its output any more
    (`elmo … | head`). Other tools are ended by the signal itself. Python ignores the signal, and
    this package keeps it so: otherwise a client that closes its connection could end a server.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not is_unread():
            raise  # another pipe, or a socket, is broken
        # Python writes the rest of the output when it ends, so standard output must be writable.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, _STDOUT)
        sys.exit(128 + signal.SIGPIPE)


def is_unread() -> bool:
    """
    Returns whether standard output is a pipe that nobody reads any more. Returns false on
    Windows, as it cannot say.
    """
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    no_events = 0  # The system reports errors in any case.
    poll.register(_STDOUT, no_events)
    events = poll.poll(0)  # without waiting
    return any(event & select.POLLERR for _, event in events)


def visible(text: object) -> str:
    r"""
    Returns a text with visible escapes, such as `\x1b`, for characters that control a terminal.
    """
    return _CONTROL.sub(_escape, str(text))


def visible_line(text: object) -> str:
    r"""
    Returns a text as `visible` does, as one line: a line feed is `\n`, so that a text from a file
    cannot look like a line of its own.
    """
    return _LINE_END.sub(_escape, visible(text))


def escape_in_json(text: str) -> str:
    r"""
    Returns a JSON text in which characters that control a terminal are escaped as JSON does it,
    such as `\u009b`. Its values stay the same.
    """
    return _CONTROL.sub(_escape_of_json, text)


def _escape_of_json(match: re.Match[str]) -> str:
    """Returns the escape of a character in JSON."""
    return f"\\u{ord(match[0]):04x}"


def _escape(match: re.Match[str]) -> str:
    r"""Returns Python's escape of a character, such as `\x1b`."""
    quoted = ascii(match[0])
    return quoted[1:-1]  # without the quotation marks


def show(*texts: object, **options: Any) -> None:
    """Prints one line for people to read: calls `print` with each text as a `visible_line`."""
    print(*[visible_line(text) for text in texts], **options)


def show_lines(text: object, **options: Any) -> None:
    """Prints a text of several lines for people to read."""
    print(visible(text), **options)


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Shows rows of cells, each column as wide as its widest cell."""
    widths = []
    for column in zip(*rows, strict=True):
        widths.append(max(len(cell) for cell in column))
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        show("  ".join(cells).rstrip())
