"""The parts of a prediction that are shown, in terminals and on pages alike: texts and bars."""

from collections.abc import Sequence
from typing import NamedTuple

COLORS = 8
"""The number of colors of spans. The terminal, the pages and style.css have that many."""


class MarkedSpan(NamedTuple):
    """Characters of a text with a label and a color."""

    start: int
    end: int
    label: str
    color: int


class MarkedText(NamedTuple):
    """A text with spans that may be nested, and a title or an empty string."""

    title: str
    text: str
    spans: list[MarkedSpan]


class Bar(NamedTuple):
    """The probability of a label; `is_best` if the model chooses it."""

    label: str
    value: float
    is_best: bool = False


class Bars(NamedTuple):
    """Bars, sorted by their probabilities."""

    title: str
    bars: list[Bar]


Part = MarkedText | Bars


class Mark(NamedTuple):
    """A span with its content: text and other marks."""

    span: MarkedSpan
    pieces: "list[str | Mark]"


def percent(value: float) -> str:
    """Formats a probability as a percentage; one that would be shown as 0.0 % is "below 0.1 %"."""
    if value < 0.001:
        return "below 0.1 %"
    return f"{100 * value:.1f} %"


def nest(text: str, spans: Sequence[MarkedSpan], start: int = 0) -> list[str | Mark]:
    """
    Returns the pieces of a text, from the character `start` on: plain texts, and spans with the
    pieces inside them. If two spans cross, the second is cut in two at the end of the first.

    "a dog barks", with a span A for "a dog", and B for "dog barks", becomes
    [A["a ", B["dog"]], B[" barks"]].
    """
    pieces: list[str | Mark] = []
    waiting = list(spans)
    while waiting:
        waiting.sort(key=_outer_first)  # each time, because spans that were cut begin later
        outer = waiting.pop(0)
        before = text[start : outer.start]
        if before:
            pieces.append(before)
        inner = []
        later = []
        for span in waiting:
            # A span that crosses the end of the outer one has a piece in both lists.
            if span.start < outer.end:
                inner.append(span._replace(end=min(span.end, outer.end)))
            if span.end > outer.end:
                later.append(span._replace(start=max(span.start, outer.end)))
        content = nest(text[: outer.end], inner, start=outer.start)
        pieces.append(Mark(outer, content))
        start = outer.end
        waiting = later
    rest = text[start:]
    if rest:
        pieces.append(rest)
    return pieces


def _outer_first(span: MarkedSpan) -> tuple[int, int]:
    """Sorts spans by their starts, and of those with the same start the longest first."""
    return span.start, -span.end
