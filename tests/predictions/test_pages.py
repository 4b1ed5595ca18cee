"""Predictions as HTML: the texts are those of the prediction; only control characters are escaped."""

from collections.abc import Iterator
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.streams import visible
from elmo_plugin.predictions.pages import PredictionView, Section, page, to_html
from elmo_plugin.predictions.views import Bar, Bars, Mark, MarkedSpan, MarkedText, nest


class Reader(HTMLParser):
    """Collects the text of the paragraphs that keep white space, and the cells of tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.marked: list[str] = []
        self.cells: list[str] = []
        self._texts: list[str] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if ("style", "white-space: pre-wrap") in attrs:
            self._texts = self.marked
            self.marked.append("")
        elif tag in ("td", "th"):
            self._texts = self.cells
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "td", "th"):
            self._texts = None

    def handle_data(self, data: str) -> None:
        if self._texts is not None:
            self._texts[-1] += data


def with_labels(pieces: list[str | Mark]) -> str:
    """Returns what a person reads: a label stands behind its span."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            text += f"{with_labels(piece.pieces)} {piece.span.label}"
    return text


@given(text=st.text(min_size=4), label=st.text(), title=st.text(min_size=1))
def test_a_marked_text_is_shown_as_it_is(text: str, label: str, title: str) -> None:
    spans = [MarkedSpan(0, 3, label, 0), MarkedSpan(1, 2, "inner", 1)]
    found = Reader(to_html(PredictionView({}, [MarkedText(title, text, spans)], "")))
    assert found.marked == [visible(with_labels(nest(text, spans)))]
    assert found.tags == {"p", "b", "mark", "small"}


@given(label=st.text(), probability=st.floats(min_value=0.001, max_value=1))
def test_bars_are_written_as_a_table(label: str, probability: float) -> None:
    bars = Bars("best", [Bar(label, probability, is_best=True), Bar("other", 0.0)])
    found = Reader(to_html(PredictionView({}, [bars], "")))
    assert found.cells == [visible(label), f"{100 * probability:.1f} %", "other", "below 0.1 %"]


def test_a_page_is_written_as_predictions_arrive() -> None:
    made = []

    def sections() -> Iterator[Section]:
        for line in (1, 2, 3):
            made.append(line)
            yield Section(line, PredictionView({"sentence": "Ada left."}, [], "unknown"))

    pieces = page("a <title>", sections())
    next(pieces)
    assert made != [1, 2, 3]
    rest = "".join(pieces)
    assert made == [1, 2, 3]
    assert 'id="line-3"' in rest and rest.endswith("</html>\n")
