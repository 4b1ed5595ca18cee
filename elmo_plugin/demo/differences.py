"""Where the predictions of several models of one task differ for the same input."""

from collections.abc import Sequence

from elmo_plugin.demo.views import COLORS, Bars, MarkedSpan, MarkedText, Part


def mark_differences(task: str, views: Sequence[list[Part]]) -> list[list[Part]]:
    """
    Marks what not all models predict.

    # Parameters

    task : `str`
        The name of the task.
    views : `Sequence[list[Part]]`
        What is shown of each model's prediction for one input.

    # Returns

    `list[list[Part]]`
        The same with `differs`: a span that not all models have with this label, and the choice among bars,
        where models choose differently. The numbers of clusters of coreference, which mean nothing by
        themselves, are those of the first model's most similar clusters.
    """
    shown = [list(parts) for parts in views]
    if len(shown) < 2:
        return shown
    if task == "coref":
        shown = [[_renumber(_text(parts), _text(shown[0]))] for parts in shown]
    compared = []
    for parts in shown:
        others = [each for each in shown if each is not parts]
        compared.append([_compare(part, others) for part in parts])
    return compared


def _compare(part: Part, others: Sequence[list[Part]]) -> Part:
    if isinstance(part, Bars):
        bars_of_others = [each for parts in others for each in parts if isinstance(each, Bars)]
        chosen = {bar.label for each in bars_of_others for bar in each.bars if bar.is_best}
        return part._replace(
            bars=[bar._replace(differs=bar.is_best and chosen != {bar.label}) for bar in part.bars]
        )
    spans_of_others = [_spans(parts, part.title) for parts in others]
    return part._replace(
        spans=[
            span._replace(differs=not all(_key(span) in spans for spans in spans_of_others))
            for span in part.spans
        ]
    )


def _spans(parts: list[Part], title: str) -> set[tuple[int, int, str]]:
    """Returns the spans of the text with this title, such as the frame of a predicate."""
    texts = [part for part in parts if isinstance(part, MarkedText) and part.title == title]
    return {_key(span) for text in texts for span in text.spans}


def _key(span: MarkedSpan) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _text(parts: list[Part]) -> MarkedText:
    return next(part for part in parts if isinstance(part, MarkedText))


def _renumber(text: MarkedText, reference: MarkedText) -> MarkedText:
    """Gives clusters the numbers of those of the reference with which they share the most mentions."""
    clusters, of_reference = _clusters(text), _clusters(reference)
    pairs = [
        (len(mentions & others), label, other)
        for label, mentions in clusters.items()
        for other, others in of_reference.items()
    ]
    numbers: dict[str, str] = {}
    for shared, label, other in sorted(pairs, key=lambda pair: (-pair[0], int(pair[1]), int(pair[2]))):
        if shared and label not in numbers and other not in numbers.values():
            numbers[label] = other
    unused = len(of_reference)
    for label in clusters:
        if label not in numbers:
            unused += 1
            numbers[label] = str(unused)
    spans = [
        span._replace(label=numbers[span.label], color=int(numbers[span.label]) % COLORS)
        for span in text.spans
    ]
    return text._replace(spans=spans)


def _clusters(text: MarkedText) -> dict[str, set[tuple[int, int]]]:
    """Returns the mentions of each cluster, by its number."""
    clusters: dict[str, set[tuple[int, int]]] = {}
    for span in text.spans:
        clusters.setdefault(span.label, set()).add((span.start, span.end))
    return clusters
