"""Predictions in a terminal: readable without colors, and the same text with them."""

import re

import pytest

from elmo_plugin.predictions.kinds import parts_to_show
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.terminal import print_parts
from elmo_plugin.predictions.views import MarkedSpan, MarkedText
from tests.predictions.stubs import PASSAGE, SQUAD, SRL

COLOR = re.compile(r"\x1b\[[\d;]*m")


def test_spans_are_in_brackets_before_their_labels(capsys: pytest.CaptureFixture[str]) -> None:
    print_parts(parts_to_show(TASKS["srl"], SRL, {}))
    print_parts(
        [MarkedText("", "her old dog", [MarkedSpan(0, 11, "2", 1), MarkedSpan(0, 3, "1", 0)])]
    )
    assert capsys.readouterr().out.splitlines() == [
        "wants",
        "[She]ARG0 [wants]V [to leave]ARG1",
        "leave",
        "[She]ARG0 wants to [leave]V",
        "[[her]1 old dog]2",
    ]


def test_bars_have_percentages_and_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    output = {
        "label": "neutral",
        "probabilities": {"neutral": 0.625, "contradiction": 0.375, "entailment": 1e-9},
    }
    print_parts(parts_to_show(TASKS["snli"], output, {}))
    assert capsys.readouterr().out.splitlines() == [
        "neutral",
        "  neutral             62.5 %  " + "█" * 19,
        "  contradiction       37.5 %  " + "█" * 11,
        "  entailment     below 0.1 %",
    ]


def test_a_label_with_an_empty_set_of_probabilities_has_no_bars(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_parts(parts_to_show(TASKS["sst"], {"label": "good", "probabilities": {}}, {}))
    assert capsys.readouterr().out == "good\n"


@pytest.mark.parametrize(
    "text", ["[bold]no markup[/bold]", "a :smile: 😀 مرحبا", "long " * 100 + "line"]
)
def test_printed_text_keeps_its_spelling(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_parts([MarkedText("", text, [])])
    assert capsys.readouterr().out == text + "\n"


def test_colored_output_is_otherwise_unchanged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = parts_to_show(TASKS["squad"], SQUAD, {"passage": PASSAGE, "question": "When?"})
    print_parts(parts)
    plain = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    print_parts(parts)
    colored = capsys.readouterr().out
    assert COLOR.search(colored) and COLOR.sub("", colored) == plain
