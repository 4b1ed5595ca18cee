"""Predictions as HTML, by the templates of this folder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from elmo_plugin.common.streams import visible
from elmo_plugin.predictions.views import Bars, Part, nest, percent

_COLORS = ("#a9d1f7", "#b6e3b6", "#f7e08f", "#e3bdf0", "#a5e3e3", "#f5b8b1", "#c9cdf5", "#d3eb9a")


class PredictionView(NamedTuple):
    """
    A prediction as pages show it.

    inputs: texts that the parts do not show, by their names
    parts: marked texts and bars
    otherwise: a text that is shown if the list of parts is empty
    """

    inputs: Mapping[str, str]
    parts: Sequence[Part]
    otherwise: str


class Section(NamedTuple):
    """A prediction on a page, with the number of its line in the file."""

    line: int
    view: PredictionView


def to_html(view: PredictionView) -> str:
    """Returns a prediction as HTML for a notebook."""
    return _ENVIRONMENT.get_template("notebook.html").render(view=view).strip()


def page(title: str, sections: Iterable[Section]) -> Iterator[str]:
    """Yields a page in pieces, so that a long one is never in memory as a whole."""
    return _ENVIRONMENT.get_template("page.html").generate(title=title, sections=sections)


def is_bars(part: Part) -> bool:
    """Returns whether a part is a list of bars, not a text. Templates call it as a test."""
    return isinstance(part, Bars)


def make_environment(folder: Path) -> Environment:
    """Returns Jinja's environment for the templates in a folder. It escapes all texts as HTML."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(nest=nest, percent=percent)
    environment.tests["bars"] = is_bars
    return environment


def visible_text(value: object) -> object:
    """
    Returns a text with visible escapes for its control characters. Returns any other value
    unchanged, such as `Markup`: it is HTML from a template, and its line feeds must stay.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


_ENVIRONMENT = make_environment(Path(__file__).parent / "templates")
_ENVIRONMENT.finalize = visible_text  # Jinja calls it with everything that a template prints
_ENVIRONMENT.globals["colors"] = _COLORS
