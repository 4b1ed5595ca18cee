"""Clusters of mentions and the brackets that stand for them, back and forth."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.coref.documents import parse_clusters
from elmo_plugin.tasks.spans import LabelError, Span

LABELS = [
    "-",
    "_",
    "(1",
    "1)",
    "(1)",
    "(2",
    "2)",
    "(1)|(2",
    "1)|(1",
    "(1|(2",
    "2)|1)",
    "(2)|2)",
    "(1|(1)|1)",
    "(1(2",
    "2)1)",
]


def places(clusters: list[list[Span]]) -> list[list[tuple[int, int]]]:
    return [[mention[:2] for mention in cluster] for cluster in clusters]


def read_as_the_reference_scorer(labels: list[str]) -> dict[str, list[tuple[int, int]]]:
    """The mentions of each cluster, their last words in them, by striking brackets off each label."""
    found: dict[str, list[tuple[int, int]]] = {}
    starts: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        for cluster in re.findall(r"\((\d+)\)", label):
            found.setdefault(cluster, []).append((row, row))
        rest = re.sub(r"\(\d+\)", "", label)
        for cluster in re.findall(r"\((\d+)", rest):
            starts.setdefault(cluster, []).append(row)
        for cluster in re.findall(r"(\d+)\)", re.sub(r"\(\d+", "", rest)):
            found.setdefault(cluster, []).append((starts[cluster].pop(), row))
    return found


@given(st.lists(st.sampled_from(LABELS), max_size=9))
def test_a_column_is_either_refused_or_read_to_its_last_bracket(labels: list[str]) -> None:
    """By counting brackets: never are more closed than open at the end of a word, and none is left."""
    is_legal = True
    for cluster in "12":
        depths = [0]
        for label in labels:
            depths.append(depths[-1] + label.count(f"({cluster}") - label.count(f"{cluster})"))
        is_legal = is_legal and min(depths) == depths[-1] == 0
    try:
        clusters = parse_clusters(labels)
    except LabelError as error:
        assert not is_legal and 0 <= error.row < len(labels)
        return
    assert is_legal
    expected = [
        [(start, last + 1) for start, last in sorted(mentions)]
        for mentions in read_as_the_reference_scorer(labels).values()
    ]
    assert sorted(places(clusters)) == sorted(expected)


def test_clusters_are_in_the_order_of_the_scorer_which_keeps_the_first_of_repeated_mentions() -> None:
    assert places(parse_clusters(["(5", "(2", "2)", "5)"])) == [[(0, 4)], [(1, 3)]]
    assert places(parse_clusters(["(5|(2)", "5)"])) == [[(0, 1)], [(0, 2)]]


def test_clusters_may_have_names() -> None:
    assert places(parse_clusters(["(person-1(place-2)", "*", "", "person-1)"])) == [[(0, 1)], [(0, 4)]]


@pytest.mark.parametrize(
    ("labels", "row", "message"),
    [
        ("- (1 - (2) -", 1, "'(1' opens a mention of cluster 1 that is never closed"),
        ("(1 - 2)", 2, "'2)' closes a mention of cluster 2, but none is open"),
        ("- 12", 1, "'12' is not a coreference label"),
        ("(1||(2)", 0, "'(1||(2)' is not a coreference label"),
        ("(0a)", 0, "'(0a)' is not a coreference label"),  # a part of a mention in the scorer's v8.02
        ("(\u0661)", 0, "'(\u0661)' is not a coreference label"),
    ],
)
def test_the_word_with_an_illegal_bracket_is_named(labels: str, row: int, message: str) -> None:
    with pytest.raises(LabelError, match=re.escape(message)) as caught:
        parse_clusters(labels.split())
    assert caught.value.row == row
