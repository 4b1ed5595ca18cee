"""Neighbours are shown as text, JSON and HTML."""

from html.parser import HTMLParser

from elmo_plugin.analysis.neighbors import Neighbor, Query, as_html, as_json, as_text

QUERY = Query(["a", "<b>", "play"], 1, [Neighbor(["so", "&c"], 1, 0.5)], [("x", 0.25)])


def test_text_marks_the_words() -> None:
    assert as_text([QUERY]).splitlines() == ["a [<b>] play", "  without its sentence: x", "  0.500  so [&c]"]


def test_json_has_words_and_places() -> None:
    assert as_json([QUERY, QUERY._replace(static=None)]) == [
        {
            "words": ["a", "<b>", "play"],
            "position": 1,
            "neighbors": [{"words": ["so", "&c"], "position": 1, "cosine": 0.5}],
            "static": [{"word": "x", "cosine": 0.25}],
        },
        {
            "words": ["a", "<b>", "play"],
            "position": 1,
            "neighbors": [{"words": ["so", "&c"], "position": 1, "cosine": 0.5}],
        },
    ]


class MarkedWords(HTMLParser):
    """Collects what stands in `<mark>`."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._is_marked = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._is_marked = tag == "mark"

    def handle_endtag(self, tag: str) -> None:
        self._is_marked = False

    def handle_data(self, data: str) -> None:
        if self._is_marked:
            self.words.append(data)


def test_html_marks_the_words_and_escapes_them() -> None:
    parser = MarkedWords()
    parser.feed(as_html([QUERY]))
    assert parser.words == ["<b>", "&c"]
