"""Arguments, the bracket labels and the BIO tags that stand for them, back and forth."""

import re

import pytest
from allennlp.data.dataset_readers.dataset_utils.span_utils import bio_tags_to_spans
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.spans import LabelError, Span, spans_to_tags, tags_to_spans
from elmo_plugin.tasks.srl.sentences import parse_labels


@given(st.lists(st.sampled_from(["(A*", "(B*", "*", "*)", "(A*)", "*B)"]), max_size=9))
def test_a_column_is_either_refused_or_read_to_its_last_bracket(labels: list[str]) -> None:
    """By counting brackets: at most one is open at any word, and none at the end."""
    text = "".join(labels)
    depths = [text[: end + 1].count("(") - text[: end + 1].count(")") for end in range(len(text))]
    is_legal = all(depth in (0, 1) for depth in depths) and (depths or [0])[-1] == 0
    is_legal = is_legal and all(role == "B" for role in re.findall(r"\((\w)[^()]*B\)", text))
    try:
        arguments = parse_labels(labels)
    except LabelError as error:
        assert not is_legal and 0 <= error.row < len(labels)
    else:
        assert is_legal
        starts, ends, _ = zip(*arguments, strict=True) if arguments else ((), (), ())
        assert starts == tuple(row for row, label in enumerate(labels) if "(" in label)
        assert ends == tuple(row + 1 for row, label in enumerate(labels) if ")" in label)


@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=9))
def test_any_bio_tags_stand_for_what_allennlp_reads_in_them(tags: list[str]) -> None:
    expected = [(start, last + 1, role) for role, (start, last) in bio_tags_to_spans(tags)]
    assert tags_to_spans(tags) == sorted(expected)


@pytest.mark.parametrize(
    ("labels", "row", "message"),
    [
        ("* (A0* * *", 1, "'(A0*' is never closed"),
        ("* *)", 1, "'*)' closes an argument, but none is open"),
        ("(A0* (V*) *)", 1, "'(V*)' opens inside (A0*"),
        ("(A0* *A1)", 1, "'*A1)' closes an argument, but the open one is A0"),
        ("(A0)", 0, "'(A0)' is not one bracket"),
    ],
)
def test_the_word_with_an_illegal_bracket_is_named(labels: str, row: int, message: str) -> None:
    with pytest.raises(LabelError, match=re.escape(message)) as caught:
        parse_labels(labels.split())
    assert caught.value.row == row


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([Span(0, 2, "A0"), Span(1, 3, "A1")], "A1 begins inside another argument"),
        ([Span(0, 2, "A0"), Span(0, 2, "A1")], "A1 begins inside another argument"),
        ([Span(1, 1, "A0")], "A0 is not in a sentence of 3 words: 1 to 1"),
        ([Span(2, 4, "A0")], "A0 is not in a sentence of 3 words: 2 to 4"),
        ([Span(-1, 1, "A0")], "A0 is not in a sentence of 3 words: -1 to 1"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments: list[Span], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        spans_to_tags(arguments, 3)
