"""Progress bars in notebooks, terminals and files."""

import io
import sys

import pytest

from elmo_plugin.common.progress import progress_bar


class NotebookStream(io.StringIO):
    """Standard error below a cell of a notebook, where a carriage return begins the line again."""


NotebookStream.__module__ = "ipykernel.iostream"


def show_progress(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(total=30, unit=" texts", mininterval=0, miniters=1) as bar:
        for _ in range(30):
            bar.update()
    return stream.getvalue()


def test_a_notebook_without_widgets_shows_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = show_progress(NotebookStream(), monkeypatch)
    assert text.count("\n") == 1 and text.count("\r") > 1 and "30/30" in text
    assert "\x1b" not in text


def test_a_file_gets_few_lines_without_carriage_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    text = show_progress(io.StringIO(), monkeypatch)
    assert "\r" not in text and "\x1b" not in text and "30/30" in text
