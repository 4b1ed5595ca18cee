"""Closed streams, streams that cannot encode a text, and texts that would control a terminal."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.streams import escape_unencodable_characters, show, visible

PROGRAM = """
import os, sys
from elmo_plugin.common.streams import open_missing_streams
open_missing_streams()
with open(sys.argv[1], "w") as file:
    assert file.fileno() > 2
    print("lost or shown", file=sys.stderr, flush=True)
    print("lost or shown", flush=True)
    os.write(1, b"by a library"), os.write(2, b"by a library")
"""


def test_printing_to_closed_streams_is_harmless(tmp_path: Path) -> None:
    shell = '"$0" -c "$1" "$2" 0<&- 1>&- 2>&-'
    arguments = ["sh", "-c", shell, sys.executable, PROGRAM, tmp_path / "file"]
    ended = subprocess.run(arguments, capture_output=True)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "status", "error"),
    [
        ("help", 0, ""),
        ("models", 141, ""),
        ("models --json=-", 141, ""),
        ("nothing", 2, "unknown command"),
    ],
)
def test_a_closed_output_pipe_ends_a_command_silently(
    arguments: str, status: int, error: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = [sys.executable, "-m", "elmo_plugin", *arguments.split()]
    ended = subprocess.run(program, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert ended.returncode == status
    assert error in ended.stderr and not {"Errno", "Traceback", "Exception"} & set(
        ended.stderr.split()
    )
    assert "pipe" not in ended.stderr.lower()


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", rb"a \xe9 \u732b \udcff \x1b"),
        ("latin-1", b"a \xe9 " + rb"\u732b \udcff \x1b"),
        ("utf-8", "a é 猫 ".encode() + rb"\udcff \x1b"),
    ],
)
def test_every_character_is_printed_in_every_encoding(
    encoding: str, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding))
    escape_unencodable_characters()
    for file in (sys.stdout, sys.stderr):
        show("a é 猫", "\udcff \x1b", file=file, flush=True)
        assert file.buffer.getvalue() == expected + b"\n"  # type: ignore[attr-defined]


@given(st.text())
def test_printed_data_cannot_control_the_terminal(text: str) -> None:
    controls = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202a\u202b\u202c\u202d\u202e"}
    assert not set(visible(text)) & (controls | set("\u2066\u2067\u2068\u2069")) - set("\t\n")
    assert (visible(text) == text) == all(
        letter.isprintable() or letter in visible(letter) for letter in text
    )


def test_control_characters_are_printed_visibly_in_errors_and_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        str(BiLmError("the tag \x1b[31m\x9b2J\u202e in 猫\t.txt"))
        == r"the tag \x1b[31m\x9b2J\u202e in 猫" + "\t.txt"
    )
    show("a\rb", "\x7f", sep="\n")
    assert capsys.readouterr().out == "a\\rb\n\\x7f\n"
