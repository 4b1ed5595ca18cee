"""Each kind of prediction is shown with its marks at the right characters, or as bars."""

from typing import Any

import pytest

from elmo_plugin.common.task_cards import TaskCard
from elmo_plugin.predictions.kinds import KINDS, color_of, parts_to_show
from elmo_plugin.predictions.prediction import TASKS
from elmo_plugin.predictions.views import (
    COLORS,
    Bars,
    MarkedSpan,
    MarkedText,
)
from tests.predictions.stubs import PASSAGE, SNLI, SQUAD, SRL, coref_output, ner_output

SENTENCE = "Ada lives in Rome"


def marked(part: Any) -> list[tuple[str, str]]:
    """The text of each span, with its label."""
    assert isinstance(part, MarkedText)
    return [(part.text[span.start : span.end], span.label) for span in part.spans]


def test_entities_are_marked_with_their_types() -> None:
    (part,) = parts_to_show(
        TASKS["ner"], ner_output(SENTENCE, (0, 1, "PER"), (3, 4, "LOC")), {"sentence": SENTENCE}
    )
    assert marked(part) == [("Ada", "PER"), ("Rome", "LOC")]


def test_each_frame_is_shown_separately_with_its_predicate() -> None:
    without_v = {"predicate": "leave", "index": 3, "roles": SRL["frames"][1]["roles"][:1]}
    wants, leave = parts_to_show(TASKS["srl"], {**SRL, "frames": [SRL["frames"][0], without_v]}, {})
    assert (wants.title, leave.title) == ("wants", "leave")
    assert marked(wants) == [("She", "ARG0"), ("wants", "V"), ("to leave", "ARG1")]
    assert marked(leave) == [("She", "ARG0"), ("leave", "V")]


def test_repeated_predicates_are_numbered() -> None:
    frames = [{"predicate": "had", "index": index, "roles": []} for index in (1, 2)]
    output = {"words": ["She", "had", "had", "it"], "frames": frames}
    assert [
        part.title
        for part in parts_to_show(TASKS["srl"], output, {})
        if isinstance(part, MarkedText)
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
def test_empty_predictions_are_reported(task: str, output: Any, title: str) -> None:
    (part,) = parts_to_show(TASKS[task], output, {})
    assert isinstance(part, MarkedText) and part.title == title and part.spans == []


def test_mentions_are_marked_in_the_typed_text_or_in_joined_words() -> None:
    text = "Anna  waved.\nShe laughed."
    (part,) = parts_to_show(TASKS["coref"], coref_output(text, ["Anna", "She"]), {"document": text})
    assert part == MarkedText("", text, [MarkedSpan(0, 4, "1", 1), MarkedSpan(13, 16, "1", 1)])
    inputs = {"sentences": [["Anna", "waved"], ["She", "laughed"]]}
    output = coref_output("Anna waved She laughed", ["Anna", "She"])
    assert marked(parts_to_show(TASKS["coref"], output, inputs)[0]) == [("Anna", "1"), ("She", "1")]


@pytest.mark.parametrize("key", ["passage", "paragraph", "context"])
def test_the_answer_is_marked_in_its_passage_and_alternatives_are_bars(key: str) -> None:
    text, bars = parts_to_show(TASKS["squad"], SQUAD, {key: PASSAGE, "question": "When?"})
    assert marked(text) == [("1887", "answer")]
    assert isinstance(bars, Bars)
    assert [bar[:3] for bar in bars.bars] == [("1887", 0.75, True), ("in 1887", 0.125, False)]


def test_bars_are_sorted_with_the_chosen_label_first_among_equals() -> None:
    for order in (list, reversed):
        values = dict(order(SNLI["probabilities"].items()))
        (bars,) = parts_to_show(TASKS["snli"], {"label": "neutral", "probabilities": values}, {})
        assert isinstance(bars, Bars) and bars.title == "neutral"
        assert [bar.label for bar in bars.bars] == ["neutral", "contradiction", "entailment"]
        assert [bar.is_best for bar in bars.bars] == [True, False, False]
    (bars,) = parts_to_show(TASKS["sst"], {"label": "b", "probabilities": {"a": 0.5, "b": 0.5}}, {})
    assert isinstance(bars, Bars) and [bar.label for bar in bars.bars] == ["b", "a"]


def test_predictions_of_unknown_tasks_are_not_shown() -> None:
    assert parts_to_show(TaskCard("trec"), {"label": "x"}, {}) == []


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_task_finds_things_of_a_known_kind(task: TaskCard) -> None:
    assert set(task.finds) <= KINDS.keys()


def test_references_to_roles_share_the_roles_color() -> None:
    srl = TASKS["srl"]
    roles = {color_of(role, srl) for role in ("ARG1", "R-ARG1", "C-ARG1")}
    assert roles == {srl.colors["ARG1"]}
    assert {color_of(str(number), TaskCard("trec")) for number in range(100)} == set(range(COLORS))
    for task in TASKS.values():
        assert set(task.colors.values()) <= set(range(COLORS))
