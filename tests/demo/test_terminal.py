"""Predictions in a terminal: readable without colours, and the same text with them."""

import re

import pytest

from elmo_plugin.demo.terminal import print_view
from elmo_plugin.demo.views import MarkedSpan, MarkedText, view
from tests.demo.stubs import PASSAGE, SNLI, SQUAD, SRL

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def test_spans_stand_in_brackets_with_their_labels(capsys: pytest.CaptureFixture[str]) -> None:
    print_view(view("srl", SRL, {}))
    assert capsys.readouterr().out.splitlines() == [
        "wants (word 2)",
        "[She]ARG0 [wants]V [to leave]ARG1",
        "leave (word 4)",
        "[She]ARG0 wants to [leave]V",
    ]


def test_spans_in_spans_keep_their_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    print_view([MarkedText("", "her old dog", [MarkedSpan(0, 11, "2", 1), MarkedSpan(0, 3, "1", 0)])])
    assert capsys.readouterr().out == "[[her]1 old dog]2\n"


def test_bars_have_their_percents_and_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    print_view(view("snli", SNLI, {}))
    assert capsys.readouterr().out.splitlines() == [
        "neutral",
        "  neutral        50.0 %  " + "█" * 15,
        "  entailment     12.5 %  " + "█" * 4,
        "  contradiction  37.5 %  " + "█" * 11,
    ]


@pytest.mark.parametrize("text", ["[bold]no markup[/bold]", "a :smile: 😀 مرحبا", "long " * 100 + "line"])
def test_a_text_is_printed_as_it_is(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_view([MarkedText("", text, [])])
    assert capsys.readouterr().out == text + "\n"


def test_colours_add_nothing_but_colours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = view("squad", SQUAD, {"passage": PASSAGE, "question": "When?"})
    print_view(parts)
    plain = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    print_view(parts)
    coloured = capsys.readouterr().out
    assert COLOUR.search(coloured) and COLOUR.sub("", coloured) == plain
