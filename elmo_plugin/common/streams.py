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
# Characters that begin a new line.
_LINE_END = re.compile("[\n\u2028\u2029]")


def open_missing_streams() -> None:
    """
    Opens the null device in place of closed standard streams. Otherwise the next file that is
    opened would get the descriptor of a stream, and be written to by `print`.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The system gives it the lowest descriptor that is free: this stream's.
            os.open(os.devnull, os.O_WRONLY)
        is_output = name != "stdin"
        if is_output and getattr(sys, name) is None:
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
    Ends the process silently, as other tools do, if nobody reads its output any more
    (`elmo … | head`). This does not turn SIGPIPE on, because the sockets of a server or a cluster
    would send it too.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not is_unread():
            raise
        # Python flushes the rest when it ends, so standard output must be writable then.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
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
    return _CONTROL.sub(_escape, str(text))


def visible_line(text: object) -> str:
    r"""
    Returns a text as `visible` does, as one line: a line feed is `\n`, so that a text from a file
    cannot look like a line of its own.
    """
    return _LINE_END.sub(_escape, visible(text))


def escape_in_json(text: str) -> str:
    r"""
    Returns the same JSON, in which characters that control a terminal have the escapes of JSON,
    such as `\u009b`. The values in it stay the same.
    """
    return _CONTROL.sub(_escape_of_json, text)


def _escape_of_json(match: re.Match[str]) -> str:
    """Returns the escape of a character in JSON."""
    return f"\\u{ord(match[0]):04x}"


def _escape(match: re.Match[str]) -> str:
    """Returns the escape of a character, without the quotation marks of `ascii`."""
    quoted = ascii(match[0])
    return quoted[1:-1]


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
