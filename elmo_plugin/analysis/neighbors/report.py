"""Words, each with its neighbours, as text, JSON or HTML."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Nearest neighbours</title>
<style>
body {{ font-family: sans-serif; max-width: 60rem; margin: 2rem auto; line-height: 1.4; }}
td {{ padding: 0.15rem 0.8rem 0.15rem 0; vertical-align: top; }}
mark {{ background: #ffe28a; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


class Neighbor(NamedTuple):
    """
    words: of the sentence
    position: of the neighbour in it
    cosine: between the vectors of the neighbour and of the query
    """

    words: list[str]
    position: int
    cosine: float


class Query(NamedTuple):
    """
    words: of the sentence
    position: of the query's word in it
    neighbors: the nearest first
    static: the neighbours of the word by static vectors, with their cosines; `None` without such a vector
    """

    words: list[str]
    position: int
    neighbors: list[Neighbor]
    static: list[tuple[str, float]] | None


def as_text(queries: Sequence[Query]) -> str:
    """Returns lines of text, each word in brackets."""
    lines = []
    for query in queries:
        lines.append(_mark(query.words, query.position))
        if query.static is not None:
            lines.append(f"  without its sentence: {', '.join(word for word, _ in query.static)}")
        lines += [f"  {each.cosine:.3f}  {_mark(each.words, each.position)}" for each in query.neighbors]
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def _mark(words: list[str], position: int, left: str = "[", right: str = "]") -> str:
    return " ".join([*words[:position], f"{left}{words[position]}{right}", *words[position + 1 :]])


def as_json(queries: Sequence[Query]) -> list[dict[str, Any]]:
    """Returns an object for each query: its word, its `neighbors` and, if there are any, `static` ones."""
    objects = []
    for query in queries:
        about: dict[str, Any] = {"words": query.words, "position": query.position}
        about["neighbors"] = [each._asdict() for each in query.neighbors]
        if query.static is not None:
            about["static"] = [{"word": word, "cosine": cosine} for word, cosine in query.static]
        objects.append(about)
    return objects


def as_html(queries: Sequence[Query]) -> str:
    """Returns a page with a table for each query."""
    parts = []
    for query in queries:
        parts.append(f"<h2>{_highlight(query.words, query.position)}</h2>")
        if query.static is not None:
            words = ", ".join(escape(word) for word, _ in query.static)
            parts.append(f"<p>Without its sentence: {words}</p>")
        parts.append("<table>")
        for each in query.neighbors:
            sentence = _highlight(each.words, each.position)
            parts.append(f"<tr><td>{each.cosine:.3f}</td><td>{sentence}</td></tr>")
        parts.append("</table>")
    return _PAGE.format(body="\n".join(parts))


def _highlight(words: list[str], position: int) -> str:
    return _mark([escape(word) for word in words], position, "<mark>", "</mark>")
