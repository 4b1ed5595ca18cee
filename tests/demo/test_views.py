"""What is read of predictions: the same text, marked at the right characters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.demo.views import Bars, Mark, MarkedSpan, MarkedText, nest, view
from tests.demo.stubs import PASSAGE, SNLI, SQUAD, SRL, coref_output, ner_output


def marked(part: Any) -> list[tuple[str, str]]:
    """The text of each span, with its label."""
    assert isinstance(part, MarkedText)
    return [(part.text[span.start : span.end], span.label) for span in part.spans]


def test_entities_are_marked_with_their_types() -> None:
    sentence = "Ada Lovelace lives in Rome ."
    (part,) = view("ner", ner_output(sentence, (0, 2, "PER"), (4, 5, "LOC")), {"sentence": sentence})
    assert marked(part) == [("Ada Lovelace", "PER"), ("Rome", "LOC")]


def test_each_frame_is_a_text_of_its_own() -> None:
    wants, leave = view("srl", SRL, {"sentence": "She wants to leave"})
    assert (wants.title, leave.title) == ("wants (word 2)", "leave (word 4)")
    assert marked(wants) == [("She", "ARG0"), ("wants", "V"), ("to leave", "ARG1")]
    assert marked(leave) == [("She", "ARG0"), ("leave", "V")]


def test_a_predicate_that_has_no_role_v_is_marked_all_the_same() -> None:
    frame = {"predicate": "leave", "index": 1, "roles": []}
    (part,) = view("srl", {"words": ["They", "leave"], "frames": [frame]}, {})
    assert marked(part) == [("leave", "V")]


def test_mentions_are_marked_in_the_text_as_it_was_given() -> None:
    text = "Anna  waved.\nShe laughed."
    (part,) = view("coref", coref_output(text, ["Anna", "She"]), {"document": text})
    assert part == MarkedText("", text, [MarkedSpan(0, 4, "1", 1), MarkedSpan(13, 16, "1", 1)])


def test_mentions_of_a_document_of_words_are_marked_in_what_spaces_join() -> None:
    inputs = {"sentences": [["Anna", "waved"], ["She", "laughed"]]}
    output = coref_output("Anna waved She laughed", ["Anna", "She"])
    assert marked(view("coref", output, inputs)[0]) == [("Anna", "1"), ("She", "1")]


@pytest.mark.parametrize("key", ["passage", "paragraph", "context"])
def test_an_answer_is_marked_in_its_passage_and_the_others_are_bars(key: str) -> None:
    text, bars = view("squad", SQUAD, {key: PASSAGE, "question": "When?"})
    assert marked(text) == [("1887", "answer")]
    assert isinstance(bars, Bars)
    assert [(bar.label, bar.value, bar.is_best) for bar in bars.bars] == [
        ("1887", 0.75, True),
        ("in 1887", 0.125, False),
    ]


def test_the_bars_of_labels_have_one_order_whatever_the_order_of_the_model() -> None:
    (bars,) = view("snli", SNLI, {})
    assert isinstance(bars, Bars) and bars.title == "neutral"
    assert [bar.label for bar in bars.bars] == ["neutral", "entailment", "contradiction"]
    assert [bar.is_best for bar in bars.bars] == [True, False, False]


def test_nothing_is_shown_of_a_task_that_is_not_known() -> None:
    assert view("trec", {"label": "x"}, {}) == []


def flat(pieces: list[Any]) -> str:
    return "".join(piece if isinstance(piece, str) else flat(piece.pieces) for piece in pieces)


def covered(pieces: list[Any], position: int = 0) -> dict[str, set[int]]:
    """The characters that are in a mark with each label."""
    found: dict[str, set[int]] = {}
    for piece in pieces:
        length = len(piece) if isinstance(piece, str) else len(flat(piece.pieces))
        if isinstance(piece, Mark):
            found.setdefault(piece.span.label, set()).update(range(position, position + length))
            for label, characters in covered(piece.pieces, position).items():
                found.setdefault(label, set()).update(characters)
        position += length
    return found


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12)).filter(lambda span: span[0] < span[1])))
def test_nested_and_crossing_spans_cover_what_they_say_and_leave_the_text(spans: list[Any]) -> None:
    text = "abcdefghijkl"
    marks = [MarkedSpan(start, end, str(number), 0) for number, (start, end) in enumerate(spans)]
    pieces = nest(MarkedText("", text, marks))
    assert flat(pieces) == text
    expected = {str(number): set(range(start, end)) for number, (start, end) in enumerate(spans)}
    assert covered(pieces) == expected
