"""Clusters of mentions, and the brackets that stand for them in the last column of CoNLL-2012."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from elmo_plugin.tasks.conll2012 import NO_ANNOTATION, LabelError

NO_MENTION = "-"
_CLUSTER = r"(?:[0-9]+(?!\w)|[^\W\d][^\s()|*]*)"  # 12, or as in GUM person-12
_LABEL = re.compile(rf"(?:\|?(?:\({_CLUSTER}\)?|{_CLUSTER}\)))+")
_BRACKET = re.compile(rf"(?P<opens>\()?(?P<cluster>{_CLUSTER})(?P<closes>\))?")


class Mention(NamedTuple):
    """The words of a document from `start` to before `end`."""

    start: int
    end: int


def parse_clusters(labels: Sequence[str]) -> list[list[Mention]]:
    """
    Reads the column of coreference, such as `(12`, `-`, `(3)|12)`, or without a bar, `(3)12)`. A closing
    bracket ends the mention of its cluster that was opened last. As in the reference scorer, all brackets
    that open at a word come before those that close there, so `3)|(3` is a mention of one word inside
    another.

    Returns the clusters in the order in which they begin, each from left to right, with any repeated mention.

    Raises `LabelError` if brackets are malformed or without their other half.
    """
    clusters: dict[str, list[Mention]] = {}
    opened: dict[str, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        for opens, cluster, closes in _brackets(row, label):
            mentions = clusters.setdefault(cluster, [])
            if opens:
                opened[cluster].append(row)
            if closes and not opened[cluster]:
                raise LabelError(row, f"{label!r} closes a mention of cluster {cluster}, but none is open")
            if closes:
                mentions.append(Mention(opened[cluster].pop(), row + 1))
    never_closed = [(row, cluster) for cluster, rows in opened.items() for row in rows]
    if never_closed:
        row, cluster = min(never_closed)
        raise LabelError(row, f"{labels[row]!r} opens a mention of cluster {cluster} that is never closed")
    return [sorted(mentions) for mentions in clusters.values()]


def _brackets(row: int, label: str) -> Iterator[tuple[bool, str, bool]]:
    """Yields the brackets at a word: first mentions of one word, then opening, then closing brackets."""
    if label in NO_ANNOTATION:
        return
    if not _LABEL.fullmatch(label):
        raise LabelError(row, f"{label!r} is not a coreference label such as (12, 12), (12)|(3 or -")
    brackets = [
        (bool(match["opens"]), match["cluster"], bool(match["closes"])) for match in _BRACKET.finditer(label)
    ]
    yield from (bracket for bracket in brackets if bracket[0] and bracket[2])
    yield from (bracket for bracket in brackets if not bracket[2])
    yield from (bracket for bracket in brackets if not bracket[0])


def format_clusters(clusters: Iterable[Iterable[tuple[int, int]]], length: int) -> list[str]:
    """
    Returns the column of coreference of a document of `length` words, in which the clusters are numbered in
    their order. Inverts `parse_clusters`.

    Raises `LabelError` if a mention leaves the document, or crosses another of its cluster, because brackets
    are ambiguous then.
    """
    numbered = []
    for number, cluster in enumerate(clusters):
        mentions = sorted((Mention(*mention) for mention in cluster), key=_longest_first)
        _check_nesting(mentions, length)
        numbered += [(mention, number) for mention in mentions]
    labels: list[list[str]] = [[] for _ in range(length)]
    for (start, end), number in sorted(numbered, key=lambda item: _longest_first(item[0])):
        labels[start].append(f"({number})" if end == start + 1 else f"({number}")
    for (start, end), number in sorted(numbered, key=lambda item: (item[0].end, -item[0].start)):
        if end > start + 1:
            labels[end - 1].append(f"{number})")
    return ["|".join(label) or NO_MENTION for label in labels]


def _longest_first(mention: Mention) -> tuple[int, int]:
    return mention.start, -mention.end


def _check_nesting(mentions: list[Mention], length: int) -> None:
    around: list[Mention] = []  # mentions that the next one may be inside of
    for mention in mentions:
        start, end = mention
        if not 0 <= start < end <= length:
            raise LabelError(start, f"a mention is not in a document of {length} words: {start} to {end}")
        while around and around[-1].end <= start:
            around.pop()
        if around and around[-1].end < end:
            crossed = f"{around[-1].start} to {around[-1].end}"
            raise LabelError(start, f"two mentions of a cluster cross: {crossed} and {start} to {end}")
        around.append(mention)
