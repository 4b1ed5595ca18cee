"""Shows predictions as marked texts and bars, and as HTML."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

COLORS = 8  # of spans, in style.css
# Labels that often occur together, in different colors; other labels get one by their letters.
_LABELS = (
    *("PER", "LOC", "ORG", "MISC", "ARG0", "ARG1", "V", "ARG2"),
    *(
        "person",
        "location",
        "corporation",
        "product",
        "group",
        "creative-work",
        "predicate",
        "answer",
    ),
)
# The colors of spans, by the numbers of `views`.
_COLORS = ("#a9d1f7", "#b6e3b6", "#f7e08f", "#e3bdf0", "#a5e3e3", "#f5b8b1", "#c9cdf5", "#d3eb9a")
HEAD = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem">
"""
FOOT = "</body></html>\n"


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
    """Bars; probabilities are sorted."""

    title: str
    bars: list[Bar]


Part = MarkedText | Bars


def percent(value: float) -> str:
    """Formats a probability."""
    return "below 0.1 %" if value < 0.001 else f"{100 * value:.1f} %"


Output = Mapping[str, Any]


def view(task: str, output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    """Returns what is shown of a prediction; nothing of an unknown task."""
    return VIEWS[task](output, inputs) if task in VIEWS else []


def _color(label: str) -> int:
    """Returns the color of a label, and of a role also for references to it."""
    label = label.removeprefix("R-").removeprefix("C-")
    return (_LABELS.index(label) if label in _LABELS else zlib.crc32(label.encode())) % COLORS


def _mark_words(
    words: Sequence[str], spans: Sequence[tuple[int, int, str]], title: str = ""
) -> MarkedText:
    """Marks spans of words, each from its first word to the one after its last."""
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    marked = [
        MarkedSpan(starts[first], starts[end] - 1, label, _color(label))
        for first, end, label in spans
    ]
    return MarkedText(title, " ".join(words), marked)


def _entities(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    spans = [(word, word + 1, tag) for word, tag in enumerate(output["tags"])]  # plain tags
    if "entities" in output:
        entities = output["entities"]
        if (
            "sentence" in inputs
            and "words" not in inputs
            and all("start_char" in each for each in entities)
        ):
            found = [(each["start_char"], each["end_char"], each["type"]) for each in entities]
            marked = [MarkedSpan(*each, _color(each[2])) for each in found]
            return [MarkedText("" if found else "No names found.", inputs["sentence"], marked)]
        spans = [(each["start"], each["end"], each["type"]) for each in output["entities"]]
    return [_mark_words(output["words"], spans, "" if spans else "No names found.")]


def _frames(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    parts: list[Part] = []
    words = output["words"]
    for frame in output["frames"]:
        index = frame["index"]
        spans = {(role["start"], role["end"], role["role"]) for role in frame["roles"]}
        spans.add((index, index + 1, "V"))
        count = words.count(words[index])
        place = f" ({words[: index + 1].count(words[index])} of {count})" if count > 1 else ""
        parts.append(_mark_words(words, sorted(spans), frame["predicate"] + place))
    return parts or [_mark_words(words, [], "No predicates found.")]


def _predicates(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    spans = [(index, index + 1, "predicate") for index in output["predicates"]]
    return [_mark_words(output["words"], spans, "" if spans else "No predicates found.")]


def _clusters(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    words = [word for sentence in output["sentences"] for word in sentence]
    text = inputs["document"] if "document" in inputs else " ".join(words)
    spans = [
        MarkedSpan(start, end, str(number), number % COLORS)
        for number, cluster in enumerate(output["clusters"], start=1)
        for start, end in [mention["characters"] for mention in cluster]
    ]
    return [MarkedText("" if spans else "No coreference found.", text, sorted(spans))]


def _answer(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    text = next(inputs[name] for name in ("passage", "paragraph", "context") if name in inputs)
    start, end = output["characters"]
    answer = MarkedSpan(start, end, "answer", _color("answer"))
    bars = [Bar(output["answer"], output["probability"], is_best=True)]
    bars += [Bar(other["text"], other["probability"]) for other in output["others"]]
    return [MarkedText("", text, [answer]), Bars(output["answer"], bars)]


def _label(output: Output, inputs: Mapping[str, Any]) -> list[Part]:
    best = output["label"]
    values = sorted(output["probabilities"].items(), key=lambda item: (-item[1], item[0] != best))
    return [Bars(best, [Bar(label, value, label == best) for label, value in values])]


VIEWS: dict[str, Callable[[Output, Mapping[str, Any]], list[Part]]] = {
    "ner": _entities,
    "srl": _frames,
    "srl_predicates": _predicates,
    "coref": _clusters,
    "squad": _answer,
    "snli": _label,
    "sst": _label,
}


class Mark(NamedTuple):
    """A span with its content: text and other marks."""

    span: MarkedSpan
    pieces: "list[str | Mark]"


def nest(text: str, spans: Sequence[MarkedSpan], start: int = 0) -> list[str | Mark]:
    """
    Returns a text from `start` on in pieces. Of two spans that cross, the second is cut in two.
    """
    pieces: list[str | Mark] = []
    while spans:
        span, *others = sorted(spans, key=lambda each: (each.start, -each.end))
        inner = [
            each._replace(end=min(each.end, span.end)) for each in others if each.start < span.end
        ]
        pieces += [text[start : span.start], Mark(span, nest(text[: span.end], inner, span.start))]
        start = span.end
        spans = [each._replace(start=max(each.start, start)) for each in others if each.end > start]
    return [piece for piece in (*pieces, text[start:]) if piece]


def to_html(inputs: Mapping[str, str], parts: Sequence[Part], otherwise: str = "") -> str:
    """
    Returns the texts of an input and the parts of a prediction, or another text if there are none.
    """
    lines = [f"<p><b>{escape(name)}</b> {escape(text)}</p>" for name, text in inputs.items()]
    lines += [_table(part) if isinstance(part, Bars) else _marked(part) for part in parts]
    return "\n".join(lines if parts else [*lines, f"<p>{escape(otherwise)}</p>"])


def _table(bars: Bars) -> str:
    rows = []
    for bar in bars.bars:
        tag = "th" if bar.is_best else "td"
        cells = f"<{tag}>{escape(bar.label)}</{tag}><{tag}>{percent(bar.value)}</{tag}>"
        rows.append(f"<tr style='text-align: left'>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _marked(part: MarkedText) -> str:
    title = f"<p><b>{escape(part.title)}</b></p>" if part.title else ""
    return f"{title}<p style='white-space: pre-wrap'>{_marks(nest(part.text, part.spans))}</p>"


def _marks(pieces: Sequence[str | Mark]) -> str:
    return "".join(
        escape(each)
        if isinstance(each, str)
        else f"<mark style='background: {_COLORS[each.span.color]}'>{_marks(each.pieces)} "
        f"<small><b>{escape(each.span.label)}</b></small></mark>"
        for each in pieces
    )
