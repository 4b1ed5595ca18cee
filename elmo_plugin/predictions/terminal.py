"""Predictions in a terminal, in color if it has colors."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from allennlp.common.checks import ConfigurationError
from rich.console import Console
from rich.style import Style
from rich.text import Text

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.common.formats.text_files import decode, standard_input_lines
from elmo_plugin.common.streams import visible
from elmo_plugin.predictions.loaded import load_archives
from elmo_plugin.predictions.tasks import Task
from elmo_plugin.predictions.views import Bars, Mark, Part, nest, percent, views

_COLORS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_green")
_WIDTH = 30  # of the bar of probability 1


def show_predictions(
    path: str,
    texts: Sequence[str],
    predicates: str | None,
    json_lines: TextIO | None,
    trust: bool,
    cuda_device: int = -1,
) -> None:
    """
    Prints a model's predictions, or to `json_lines` the JSON that `allennlp predict` writes. `predicates` is
    the archive of the tagger that finds predicates, for semantic roles.

    `texts` are the texts that the task reads, or one JSON object; or "-" for lines of standard input, each a
    text or a JSON object. Raises `BiLmError` if the model cannot be loaded, or an input cannot be used.
    """
    loaded = load_archives([path, *([predicates] if predicates else [])], trust, cuda_device)
    archive = loaded[0]
    if predicates and (len(loaded) > 1 or archive.tagger != predicates):
        raise BiLmError(f"--predicates {predicates}: is not a tagger of predicates, or {path} needs none")
    for number, (place, inputs) in enumerate(_read_inputs(texts, archive.task)):
        if archive.needs_predicates and "predicates" not in inputs:
            raise BiLmError(
                f"{place}: say which words are predicates, by --predicates ARCHIVE, the tagger, or in "
                'JSON: {"sentence": "She wants to leave.", "predicates": [1]}'
            )
        try:
            output = archive.predict(inputs)
        except (BiLmError, ConfigurationError) as error:
            raise BiLmError(f"{place}: {error}") from None
        try:
            (parts,) = views(archive.task.name, [output], inputs)
        except Exception:  # the JSON of anyone's predictor may have another form
            parts = []
        if json_lines or not parts:
            print(archive.predictor.dump_line(output), end="", flush=True, file=json_lines)
        else:
            print(end="\n" if number else "")
            print_view(parts)


def _read_inputs(texts: Sequence[str], task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the inputs of a command line, or of standard input, with their places."""
    lines: Iterable[tuple[str, Sequence[str]]] = [("TEXT", texts)]
    if list(texts) == ["-"]:
        places = ((f"standard input, line {n}", line) for n, line in enumerate(standard_input_lines(), 1))
        lines = ((place, [decode(line, place).strip()]) for place, line in places if line.strip())
    for place, line in lines:
        is_json = len(line) == 1 and line[0].startswith("{")
        yield place, parse_json(line[0], place, is_line=True) if is_json else task.from_texts(line)


def print_view(parts: Sequence[Part]) -> None:
    """Prints a prediction. Spans are in brackets before their labels, also in color."""
    console = Console(highlight=False)
    for part in parts:
        if part.title:
            console.print(Text(visible(part.title), Style(bold=True)))
        console.print(
            _bars(part) if isinstance(part, Bars) else _marked(nest(part.text, part.spans)), soft_wrap=True
        )


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
