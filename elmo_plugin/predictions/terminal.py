"""Predictions in a terminal, in color if it has colors."""

import sys
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from elmo_plugin.common.streams import show, visible
from elmo_plugin.predictions.prediction import Prediction
from elmo_plugin.predictions.views import Bars, Mark, Part, nest, percent

_COLORS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_green")
_WIDTH = 30  # of the bar of probability 1


def show_predictions(
    predictions: Iterable[Prediction], dump_line: Callable[[Prediction], str]
) -> None:
    """
    Prints each prediction with its marks or bars, or as `dump_line` writes it if its form is
    unknown.
    """
    for number, prediction in enumerate(predictions):
        if not (parts := prediction.parts()):
            print(dump_line(prediction), end="", flush=True)
            continue
        print(end="\n" if number else "")
        if prediction.line and (texts := prediction.shown_inputs(parts)):  # one of many
            show(*texts.values(), sep="\n")
        print_view(parts)


def print_view(parts: Sequence[Part]) -> None:
    """Prints a prediction. Spans are in brackets before their labels, also in color."""
    console = Console(highlight=False)
    for part in parts:
        if part.title:
            console.print(Text(visible(part.title), Style(bold=True)))
        shown = _bars(part) if isinstance(part, Bars) else _marked(nest(part.text, part.spans))
        console.print(shown, soft_wrap=True)


def _marked(pieces: Sequence[str | Mark], style: Style | None = None) -> Text:
    text = Text()
    for piece in pieces:
        if isinstance(piece, str):
            text.append(visible(piece), style)
        else:
            inner = Style(color=_COLORS[piece.span.color])
            text.append("[", inner)
            text.append(_marked(piece.pieces, inner + Style(bold=True)))
            text.append(visible(f"]{piece.span.label}"), inner)
    return text


def _bars(bars: Bars) -> Text:
    labels = [visible(bar.label) for bar in bars.bars]
    values = [percent(bar.value) for bar in bars.bars]
    longest, widest = (max(map(len, each)) for each in (labels, values))
    block = "█" if sys.stdout.encoding.lower().startswith("utf") else "#"
    lines = []
    for label, value, bar in zip(labels, values, bars.bars, strict=True):
        style = Style(color="green", bold=True) if bar.is_best else Style()
        line = f"  {label:{longest}}  {value:>{widest}}  {block * round(_WIDTH * bar.value)}"
        lines.append(Text(line.rstrip(), style))
    return Text("\n").join(lines)
