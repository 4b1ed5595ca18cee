"""Predictions in a terminal: readable without colors, and the same text with them."""

import re

import pytest

from elmo_plugin.demo.terminal import print_view
from elmo_plugin.demo.views import MarkedSpan, MarkedText, views
from tests.demo.stubs import PASSAGE, SNLI, SQUAD, SRL

COLOR = re.compile(r"\x1b\[[\d;]*m")


def test_spans_are_in_brackets_before_their_labels(capsys: pytest.CaptureFixture[str]) -> None:
    print_view(views("srl", [SRL], {})[0])
    print_view([MarkedText("", "her old dog", [MarkedSpan(0, 11, "2", 1), MarkedSpan(0, 3, "1", 0)])])
    assert capsys.readouterr().out.splitlines() == [
        "wants (word 1)",
        "[She]ARG0 [wants]V [to leave]ARG1",
        "leave (word 3)",
        "[She]ARG0 wants to [leave]V",
        "[[her]1 old dog]2",
    ]


def test_bars_have_percentages_and_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    print_view(views("snli", [SNLI], {})[0])
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


def test_colors_add_nothing_but_colors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (parts,) = views("squad", [SQUAD], {"passage": PASSAGE, "question": "When?"})
    print_view(parts)
    plain = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    print_view(parts)
    colored = capsys.readouterr().out
    assert COLOR.search(colored) and COLOR.sub("", colored) == plain
