"""Predictions in a terminal, in color if it has colors."""

import sys
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from elmo_plugin.common.streams import show_lines, visible
from elmo_plugin.predictions.prediction import Prediction
from elmo_plugin.predictions.views import Bars, Mark, MarkedText, Part, nest, percent

_COLORS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_green")
_WIDTH = 30  # the number of blocks in the bar of a label whose probability is 1


def show_predictions(
    predictions: Iterable[Prediction], dump_line: Callable[[Prediction], str]
) -> None:
    """
    Prints predictions with marked spans or bars, and blank lines between them. A prediction of a
    form that is not known has no parts, so the line that `dump_line` returns is printed instead.
    """
    is_first = True
    for prediction in predictions:
        parts = prediction.parts()
        if parts:
            if not is_first:
                print()
            _show_prediction(prediction, parts)
        else:
            # The line ends with a newline already.
            show_lines(dump_line(prediction), end="", flush=True)
        is_first = False


def _show_prediction(prediction: Prediction, parts: Sequence[Part]) -> None:
    """
    Prints one prediction. If its input is a line of a file, prints first the texts that the parts
    do not show. A text that the user has typed is in the terminal already.
    """
    is_from_file = prediction.line is not None
    if is_from_file:
        for text in prediction.texts_beside(parts).values():
            show_lines(text)
    print_parts(parts)


def print_parts(parts: Sequence[Part]) -> None:
    """Prints the parts of a prediction: the title of each, and its marked text or its bars."""
    console = Console(highlight=False)
    for part in parts:
        if part.title:
            console.print(Text(visible(part.title), Style(bold=True)))
        if isinstance(part, MarkedText):
            console.print(_mark_spans(nest(part.text, part.spans)), soft_wrap=True)
        elif part.bars:
            console.print(_draw_bars(part), soft_wrap=True)


def _mark_spans(pieces: Sequence[str | Mark], style_outside_spans: Style | None = None) -> Text:
    """
    Returns a text in which each span is in brackets and in its color, followed by its label. Spans
    may be nested. Characters that would control the terminal are replaced.
    """
    text = Text()
    for piece in pieces:
        if isinstance(piece, str):
            text.append(visible(piece), style_outside_spans)
        else:
            style = Style(color=_COLORS[piece.span.color])
            text.append("[", style)
            text.append(_mark_spans(piece.pieces, style + Style(bold=True)))
            text.append(visible(f"]{piece.span.label}"), style)
    return text


def _draw_bars(bars: Bars) -> Text:
    """
    Returns a line for each bar (at least one): its label, its percentage, and blocks. The number of
    blocks is `_WIDTH` for a probability of 1.
    """
    labels = [visible(bar.label) for bar in bars.bars]
    percentages = [percent(bar.value) for bar in bars.bars]
    label_width = max(len(label) for label in labels)
    percentage_width = max(len(percentage) for percentage in percentages)
    block = _block_character()
    lines = []
    for bar, label, percentage in zip(bars.bars, labels, percentages, strict=True):
        blocks = block * round(_WIDTH * bar.value)
        line = f"  {label:{label_width}}  {percentage:>{percentage_width}}  {blocks}"
        style = Style()
        if bar.is_best:
            style = Style(color="green", bold=True)
        lines.append(Text(line.rstrip(), style))
    return Text("\n").join(lines)


def _block_character() -> str:
    """Returns the character of which bars consist, one that standard output can encode."""
    encoding = sys.stdout.encoding or "ascii"  # a stream in memory does not say its encoding
    if encoding.lower().startswith("utf"):
        return "█"
    return "#"
