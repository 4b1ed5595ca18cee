"""Predictions in a terminal, in colour where it has colours."""

from collections.abc import Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from elmo_plugin.demo.views import Bars, Mark, Part, nest

_COLORS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_green")
_WIDTH = 30  # of the bar of probability 1


def print_view(parts: Sequence[Part]) -> None:
    """
    Prints what is shown of a prediction. Each marked span stands in brackets with its label after them, so
    that it can be read without colours, too.
    """
    console = Console(highlight=False)
    for part in parts:
        if part.title:
            console.print(Text(part.title, Style(bold=True)))
        console.print(_bars(part) if isinstance(part, Bars) else _marked(nest(part)), soft_wrap=True)


def _marked(pieces: Sequence[str | Mark], style: Style | None = None) -> Text:
    text = Text()
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece, style)
        else:
            inner = Style(color=_COLORS[piece.span.color])
            text.append("[", inner)
            text.append(_marked(piece.pieces, inner + Style(bold=True)))
            text.append(f"]{piece.span.label}", inner)
    return text


def _bars(bars: Bars) -> Text:
    text = Text()
    longest = max(len(bar.label) for bar in bars.bars)
    for number, bar in enumerate(bars.bars):
        style = Style(color="green", bold=True) if bar.is_best else Style()
        line = f"  {bar.label:{longest}} {100 * bar.value:5.1f} %  {'█' * round(_WIDTH * bar.value)}"
        text.append(line.rstrip() + ("\n" if number < len(bars.bars) - 1 else ""), style)
    return text
