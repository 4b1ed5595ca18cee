"""Predictions in a terminal, in color if it has colors."""

import sys
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from elmo_plugin.common.streams import show_lines, visible
from elmo_plugin.predictions.prediction import Prediction
from elmo_plugin.predictions.views import Bars, Mark, Part, nest, percent

_COLORS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_green")
_WIDTH = 30  # the number of blocks in the bar of a label whose probability is 1


def show_predictions(
    predictions: Iterable[Prediction], dump_line: Callable[[Prediction], str]
) -> None:
    """
    Prints each prediction with its marks or bars, and a blank line before it if it is not the first
    one. If its form is not known, the line that `dump_line` returns is printed.
    """
    is_first = True
    for prediction in predictions:
        parts = prediction.parts()
        if parts:
            if not is_first:
                print()
            _show_prediction(prediction, parts)
        else:
            show_lines(dump_line(prediction), end="", flush=True)
        is_first = False


def _show_prediction(prediction: Prediction, parts: Sequence[Part]) -> None:
    """
    Prints one prediction. If its input is a line of a file, the texts that the parts do not show
    come first, because nobody has typed them here.
    """
    if prediction.line:
        for text in prediction.texts_beside(parts).values():
            show_lines(text)
    print_view(parts)


def print_view(parts: Sequence[Part]) -> None:
    """Prints a prediction. Each span is in brackets, with its label behind it, in its color."""
    console = Console(highlight=False)
    for part in parts:
        if part.title:
            console.print(Text(visible(part.title), Style(bold=True)))
        if isinstance(part, Bars):
            shown = _bars(part)
        else:
            shown = _marked(nest(part.text, part.spans))
        console.print(shown, soft_wrap=True)


def _marked(pieces: Sequence[str | Mark], style: Style | None = None) -> Text:
    """Returns a text with each span in its color; `style` is for the text outside them."""
    text = Text()
    for piece in pieces:
        if isinstance(piece, str):
            text.append(visible(piece), style)
        else:
            color = Style(color=_COLORS[piece.span.color])
            text.append("[", color)
            text.append(_marked(piece.pieces, color + Style(bold=True)))
            text.append(visible(f"]{piece.span.label}"), color)
    return text


def _bars(bars: Bars) -> Text:
    """Returns a line for each bar: its label, its probability, and blocks up to `_WIDTH`."""
    labels = [visible(bar.label) for bar in bars.bars]
    values = [percent(bar.value) for bar in bars.bars]
    label_width = max(len(label) for label in labels)
    value_width = max(len(value) for value in values)
    encoding = sys.stdout.encoding or "ascii"  # a stream in memory has none
    block = "#"  # other encodings may not have the other character
    if encoding.lower().startswith("utf"):
        block = "█"
    lines = []
    for label, value, bar in zip(labels, values, bars.bars, strict=True):
        blocks = block * round(_WIDTH * bar.value)
        line = f"  {label:{label_width}}  {value:>{value_width}}  {blocks}"
        style = Style()
        if bar.is_best:
            style = Style(color="green", bold=True)
        lines.append(Text(line.rstrip(), style))
    return Text("\n").join(lines)
