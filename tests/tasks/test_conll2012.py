"""Columns of CoNLL-2012, and words that would look like brackets in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.conll2012 import escape_word, row_kind, unescape_word


def columns_of(text: str) -> list[str]:
    return Line(text, "data", 1).columns


def test_white_space_of_ascii_separates_columns() -> None:
    assert columns_of("a  0\tb \r\n") == ["a", "0", "b"]
    assert columns_of(" \t\n") == []
    assert columns_of("a\u00a0b c") == ["a\u00a0b", "c"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "blank"),
        ("#begin document (a/b); part 000", "mark"),
        ("#end document", "mark"),
        ("a/b 0 0 Yes", "word"),
        ("#begin 0 0 document", "word"),
        ("#end", "word"),
    ],
)
def test_a_line_is_blank_or_a_mark_or_a_word(text: str, kind: str) -> None:
    assert row_kind(columns_of(text)) == kind


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}")],
)
def test_brackets_are_escaped_and_come_back(escaped: str, plain: str) -> None:
    assert (unescape_word(escaped), escape_word(plain)) == (plain, escaped)


@pytest.mark.parametrize(
    ("escaped", "plain"), [("/.", "."), ("/?", "?"), ("1\\/2", "1/2"), ("\\*\\*", "**"), ("/", "/")]
)
def test_marks_of_ontonotes_and_of_the_treebank_are_undone(escaped: str, plain: str) -> None:
    assert unescape_word(escaped) == plain


@given(st.text(min_size=1).filter(lambda word: columns_of(word) == [word]))
def test_a_word_in_plain_text_survives_its_column(word: str) -> None:
    plain = unescape_word(word)
    assert unescape_word(escape_word(plain)) == plain


@pytest.mark.parametrize("word", ["", " ", "a b", "a\n"])
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="cannot be written in a column"):
        escape_word(word)
