"""What is read of predictions: the same text, marked at the right characters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.predictions.kinds import KINDS, color_of, view
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.views import (
    COLORS,
    Bars,
    Mark,
    MarkedSpan,
    MarkedText,
    nest,
    percent,
)
from tests.predictions.stubs import PASSAGE, SNLI, SQUAD, SRL, coref_output, ner_output

SENTENCE = "Ada lives in Rome"


def marked(part: Any) -> list[tuple[str, str]]:
    """The text of each span, with its label."""
    assert isinstance(part, MarkedText)
    return [(part.text[span.start : span.end], span.label) for span in part.spans]


def test_entities_are_marked_with_their_types() -> None:
    (part,) = view(
        TASKS["ner"], ner_output(SENTENCE, (0, 1, "PER"), (3, 4, "LOC")), {"sentence": SENTENCE}
    )
    assert marked(part) == [("Ada", "PER"), ("Rome", "LOC")]


def test_each_frame_is_a_separate_text_with_its_predicate() -> None:
    without_v = {"predicate": "leave", "index": 3, "roles": SRL["frames"][1]["roles"][:1]}
    wants, leave = view(TASKS["srl"], {**SRL, "frames": [SRL["frames"][0], without_v]}, {})
    assert (wants.title, leave.title) == ("wants", "leave")
    assert marked(wants) == [("She", "ARG0"), ("wants", "V"), ("to leave", "ARG1")]
    assert marked(leave) == [("She", "ARG0"), ("leave", "V")]


def test_a_predicate_that_occurs_twice_says_which_it_is() -> None:
    frames = [{"predicate": "had", "index": index, "roles": []} for index in (1, 2)]
    output = {"words": ["She", "had", "had", "it"], "frames": frames}
    assert [
        part.title for part in view(TASKS["srl"], output, {}) if isinstance(part, MarkedText)
    ] == [
        "had (1 of 2)",
        "had (2 of 2)",
    ]


@pytest.mark.parametrize(
    ("task", "output", "title"),
    [
        ("ner", ner_output(SENTENCE), "No names found."),
        ("srl", {**SRL, "frames": []}, "No predicates found."),
        ("srl_predicates", {"words": ["Oh"], "predicates": []}, "No predicates found."),
        ("coref", coref_output(SENTENCE), "No coreference found."),
    ],
)
def test_nothing_found_is_said(task: str, output: Any, title: str) -> None:
    (part,) = view(TASKS[task], output, {})
    assert isinstance(part, MarkedText) and part.title == title and part.spans == []


def test_mentions_are_marked_in_the_text_as_it_was_typed_or_in_joined_words() -> None:
    text = "Anna  waved.\nShe laughed."
    (part,) = view(TASKS["coref"], coref_output(text, ["Anna", "She"]), {"document": text})
    assert part == MarkedText("", text, [MarkedSpan(0, 4, "1", 1), MarkedSpan(13, 16, "1", 1)])
    inputs = {"sentences": [["Anna", "waved"], ["She", "laughed"]]}
    output = coref_output("Anna waved She laughed", ["Anna", "She"])
    assert marked(view(TASKS["coref"], output, inputs)[0]) == [("Anna", "1"), ("She", "1")]


@pytest.mark.parametrize("key", ["passage", "paragraph", "context"])
def test_an_answer_is_marked_in_its_passage_and_the_others_are_bars(key: str) -> None:
    text, bars = view(TASKS["squad"], SQUAD, {key: PASSAGE, "question": "When?"})
    assert marked(text) == [("1887", "answer")]
    assert isinstance(bars, Bars)
    assert [bar[:3] for bar in bars.bars] == [("1887", 0.75, True), ("in 1887", 0.125, False)]


def test_the_bars_of_labels_are_sorted_and_of_equal_ones_the_choice_is_first() -> None:
    for order in (list, reversed):
        values = dict(order(SNLI["probabilities"].items()))
        (bars,) = view(TASKS["snli"], {"label": "neutral", "probabilities": values}, {})
        assert isinstance(bars, Bars) and bars.title == "neutral"
        assert [bar.label for bar in bars.bars] == ["neutral", "contradiction", "entailment"]
        assert [bar.is_best for bar in bars.bars] == [True, False, False]
    (bars,) = view(TASKS["sst"], {"label": "b", "probabilities": {"a": 0.5, "b": 0.5}}, {})
    assert isinstance(bars, Bars) and [bar.label for bar in bars.bars] == ["b", "a"]


def test_nothing_is_shown_of_an_unknown_task() -> None:
    assert view(TaskCard("trec"), {"label": "x"}, {}) == []


@st.composite
def spans_in(draw: st.DrawFn, length: int) -> list[MarkedSpan]:
    spans = []
    for number in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, length - 1))
        end = draw(st.integers(start + 1, length))
        spans.append(MarkedSpan(start, end, str(number), 0))
    return spans


def labels_of_characters(pieces: list[str | Mark], around: frozenset[str]) -> list[Any]:
    """Returns each character of nested pieces with the labels of all marks around it."""
    found: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str):
            found += [(character, around) for character in piece]
        else:
            found += labels_of_characters(piece.pieces, around | {piece.span.label})
    return found


@given(spans_in(length=12))
def test_each_character_is_in_the_marks_of_the_spans_that_have_it(spans: list[MarkedSpan]) -> None:
    text = "abcdefghijkl"
    expected = []
    for position, character in enumerate(text):
        labels = [span.label for span in spans if span.start <= position < span.end]
        expected.append((character, frozenset(labels)))
    assert labels_of_characters(nest(text, spans), frozenset()) == expected


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_task_finds_things_of_a_known_kind(task: TaskCard) -> None:
    assert set(task.finds) <= KINDS.keys()


def test_a_reference_to_a_role_has_its_color_and_other_labels_have_one_of_the_colors() -> None:
    srl = TASKS["srl"]
    roles = {color_of(role, srl) for role in ("ARG1", "R-ARG1", "C-ARG1")}
    assert roles == {srl.colors["ARG1"]}
    assert {color_of(str(number), TaskCard("trec")) for number in range(100)} == set(range(COLORS))
    for task in TASKS.values():
        assert set(task.colors.values()) <= set(range(COLORS))


def test_of_two_marks_that_cross_the_second_is_cut_in_two() -> None:
    one, two = MarkedSpan(1, 4, "1", 0), MarkedSpan(2, 6, "2", 0)
    inner, rest = two._replace(end=4), two._replace(start=4)
    assert nest("abcdefgh", [two, one]) == [
        "a",
        Mark(one, ["b", Mark(inner, ["cd"])]),
        Mark(rest, ["ef"]),
        "gh",
    ]
    assert percent(0.0009) == "below 0.1 %" and percent(0.5) == "50.0 %"
