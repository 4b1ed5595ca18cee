"""Columns of CoNLL-2012, and words that would look like brackets in them."""

import pytest

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.conll2012 import line_kind, split_sentence, unescape_word


def split(*texts: str) -> list[list[str]]:
    return [columns for _, columns in split_sentence([Line(text, "data", 1) for text in texts])]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "blank"),
        ("#begin document (a/b); part 000", "begin"),
        ("# begin document GUM_a\r\n", "begin"),
        ("#end document", "end"),
        ("a/b 0 0 Yes", "word"),
        ("#begin 0 0 document", "word"),
        ("#end", "word"),
    ],
)
def test_a_line_is_blank_or_a_mark_or_a_word(text: str, kind: str) -> None:
    assert line_kind(Line(text, "data", 1)) == kind


def test_a_column_between_tabs_may_have_spaces_or_be_blank() -> None:
    assert split("d\tNew York \t(0)\n", "d\tslept\t\n") == [
        ["d", "New York", "(0)"],
        ["d", "slept", ""],
    ]
    assert split("d  a\t(0)", "d b -") == [["d", "a", "(0)"], ["d", "b", "-"]]
    mixed = [f"d 0 {number} word X\t*   - - - - * -" for number in range(2)]
    assert list(map(len, split(*mixed))) == [12, 12]


@pytest.mark.parametrize("separator", ["\t", "  "])
def test_comments_are_no_words_but_a_number_sign_is(separator: str) -> None:
    texts = ["# text = no word here", "d|#|-", "#|#|(0)", "# id"]
    assert split(*(text.replace("|", separator) for text in texts)) == [
        ["d", "#", "-"],
        ["#", "#", "(0)"],
    ]
    assert split("# only a comment") == []
    assert split(f"#{separator}-") == [["#", "-"]]


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        *[
            ("-LRB-", "("),
            ("-RRB-", ")"),
            ("-LSB-", "["),
            ("-RSB-", "]"),
            ("-LCB-", "{"),
            ("-RCB-", "}"),
        ],
        *[("/.", "."), ("/?", "?"), ("1\\/2", "1/2"), ("\\*\\*", "**"), ("/", "/")],
    ],
)
def test_brackets_and_marks_of_ontonotes_and_of_the_treebank_are_undone(
    escaped: str, plain: str
) -> None:
    assert unescape_word(escaped) == plain
