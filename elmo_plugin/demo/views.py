"""What a person reads of a prediction: marked texts and bars, from the JSON that predictors give."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

COLORS = 8
"""How many colours there are for spans; style.css has each of them."""
# Labels that often stand together differ in colour; others get one by their letters.
_COLORS = {
    **dict.fromkeys(("PER", "person", "PERSON", "ARG0", "predicate"), 0),
    **dict.fromkeys(("LOC", "location", "GPE", "ARG1", "answer"), 1),
    **dict.fromkeys(("ORG", "corporation", "V"), 2),
    **dict.fromkeys(("MISC", "product", "ARG2"), 3),
    **dict.fromkeys(("group", "ARG3", "ARGM-TMP"), 4),
    **dict.fromkeys(("creative-work", "ARGM-LOC"), 5),
}
_ORDER = [
    *("very negative", "negative", "neutral", "positive", "very positive"),
    *("entailment", "contradiction"),
]


class MarkedSpan(NamedTuple):
    """
    start, end: the characters of a text that are marked
    label: what they are marked as
    color: from 0 to `COLORS - 1`
    differs: whether another model marks it differently, or not at all
    """

    start: int
    end: int
    label: str
    color: int
    differs: bool = False


class MarkedText(NamedTuple):
    """
    title: what it shows, or nothing
    text: as it was given, or its words with spaces between them
    spans: may lie in one another
    """

    title: str
    text: str
    spans: list[MarkedSpan]


class Bar(NamedTuple):
    """
    label: what has this probability
    value: from 0 to 1
    is_best: whether it is what the model chooses
    differs: whether another model makes a different choice
    """

    label: str
    value: float
    is_best: bool = False
    differs: bool = False


class Bars(NamedTuple):
    """
    title: what the bars are
    bars: in the order in which they are read
    """

    title: str
    bars: list[Bar]


Part = MarkedText | Bars
View = Callable[[Mapping[str, Any], Mapping[str, Any]], list[Part]]


def view(task: str, output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    """
    Returns what is shown of a prediction.

    # Parameters

    task : `str`
        The name of the task.
    output : `Mapping[str, Any]`
        What its predictor returned.
    inputs : `Mapping[str, Any]`
        What it was given.

    # Returns

    `list[Part]`
        Nothing where the task is not one of this package.
    """
    return VIEWS[task](output, inputs) if task in VIEWS else []


def color_of(label: str) -> int:
    """Returns the colour of a label, which is always the same, and a role's own for references to it."""
    label = label.removeprefix("R-").removeprefix("C-")
    return _COLORS.get(label, zlib.crc32(label.encode()) % COLORS)


def _of_words(words: Sequence[str], spans: Sequence[tuple[int, int, str]], title: str = "") -> MarkedText:
    """Marks spans of words, each from its first word to the one after its last."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    marked = [
        MarkedSpan(starts[first], starts[end] - 1, label, color_of(label)) for first, end, label in spans
    ]
    return MarkedText(title, " ".join(words), marked)


def _entities(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    spans = [(each["start"], each["end"], each["type"]) for each in output["entities"]]
    return [_of_words(output["words"], spans)]


def _frames(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    words = output["words"]
    parts: list[Part] = []
    for frame in output["frames"]:
        index = frame["index"]
        spans = [(role["start"], role["end"], role["role"]) for role in frame["roles"]]
        if (index, index + 1, "V") not in spans:
            spans.append((index, index + 1, "V"))
        title = f"{frame['predicate']} (word {index + 1})"
        parts.append(_of_words(words, sorted(spans), title))
    return parts or [_of_words(words, [])]


def _predicates(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    return [_of_words(output["words"], [(index, index + 1, "predicate") for index in output["predicates"]])]


def _clusters(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    words = [word for sentence in output["sentences"] for word in sentence]
    text = " ".join(words) if "sentences" in inputs else inputs["document"]
    spans = [
        MarkedSpan(start, end, str(number), number % COLORS)
        for number, cluster in enumerate(output["clusters"], start=1)
        for start, end in [mention["characters"] for mention in cluster]
    ]
    return [MarkedText("", text, sorted(spans))]


def _answer(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    text = next(inputs[name] for name in ("passage", "paragraph", "context") if name in inputs)
    start, end = output["characters"]
    answer = MarkedSpan(start, end, "answer", color_of("answer"))
    bars = [Bar(output["answer"], output["probability"], is_best=True)]
    bars += [Bar(other["text"], other["probability"]) for other in output["others"]]
    return [MarkedText("", text, [answer]), Bars("The best answers", bars)]


def _label(output: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Part]:
    labels = sorted(output["probabilities"], key=lambda label: _ORDER.index(label) if label in _ORDER else -1)
    bars = [Bar(label, output["probabilities"][label], label == output["label"]) for label in labels]
    return [Bars(output["label"], bars)]


VIEWS: dict[str, View] = {
    "ner": _entities,
    "srl": _frames,
    "srl_predicates": _predicates,
    "coref": _clusters,
    "squad": _answer,
    "snli": _label,
    "sst": _label,
}
"""By the task."""


class Mark(NamedTuple):
    """
    span: what is marked
    pieces: what is in it: text, and other marks
    """

    span: MarkedSpan
    pieces: "list[str | Mark]"


def nest(marked: MarkedText) -> list[str | Mark]:
    """
    Returns a text in pieces, in which a span that lies in another one is one of its pieces. Of two spans that
    cross, the second is cut in two.
    """
    spans = sorted(marked.spans, key=lambda span: (span.start, -span.end))
    return _nest(marked.text, 0, len(marked.text), spans)


def _nest(text: str, start: int, end: int, spans: list[MarkedSpan]) -> list[str | Mark]:
    pieces: list[str | Mark] = []
    waiting = list(spans)
    while waiting:
        span = waiting.pop(0)
        if span.start > start:
            pieces.append(text[start : span.start])
        inner = [each for each in waiting if each.start < span.end]
        after = [each for each in waiting if each.start >= span.end]
        after += [each._replace(start=span.end) for each in inner if each.end > span.end]
        inner = [each._replace(end=min(each.end, span.end)) for each in inner]
        pieces.append(Mark(span, _nest(text, span.start, span.end, inner)))
        start, waiting = span.end, sorted(after, key=lambda each: (each.start, -each.end))
    if start < end:
        pieces.append(text[start:end])
    return pieces
