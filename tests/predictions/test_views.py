"""Spans in a text become nested marks."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.predictions.views import (
    Mark,
    MarkedSpan,
    nest,
    percent,
)


@st.composite
def spans_in(draw: st.DrawFn, length: int) -> list[MarkedSpan]:
    spans = []
    for number in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, length - 1))
        end = draw(st.integers(start + 1, length))
        spans.append(MarkedSpan(start, end, str(number), 0))
    return spans


def labels_of_characters(pieces: list[str | Mark], around: frozenset[str]) -> list[Any]:
    """Returns each character of nested pieces with the labels of all marks around it."""
    found: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str):
            found += [(character, around) for character in piece]
        else:
            found += labels_of_characters(piece.pieces, around | {piece.span.label})
    return found


@given(spans_in(length=12))
def test_each_character_is_marked_by_the_spans_that_contain_it(spans: list[MarkedSpan]) -> None:
    text = "abcdefghijkl"
    expected = []
    for position, character in enumerate(text):
        labels = [span.label for span in spans if span.start <= position < span.end]
        expected.append((character, frozenset(labels)))
    assert labels_of_characters(nest(text, spans), frozenset()) == expected


def test_the_second_of_two_crossing_marks_is_split() -> None:
    one, two = MarkedSpan(1, 4, "1", 0), MarkedSpan(2, 6, "2", 0)
    inner, rest = two._replace(end=4), two._replace(start=4)
    assert nest("abcdefgh", [two, one]) == [
        "a",
        Mark(one, ["b", Mark(inner, ["cd"])]),
        Mark(rest, ["ef"]),
        "gh",
    ]
    assert percent(0.0009) == "below 0.1 %" and percent(0.5) == "50.0 %"
