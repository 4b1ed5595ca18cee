"""Columns of CoNLL-2012, and words that would look like brackets in them."""

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.conll2012 import (
    ConllWord,
    format_sentence,
    line_kind,
    parse_sentence,
    unescape_word,
)


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


ROWS = ["d 0 0 Ann NN * - - - Bo * (0)", "d 0 1 ran VB * run 01 - Bo * -"]


@pytest.mark.parametrize("separator", [" ", "   ", "\t", " \t "])
def test_tabs_or_white_space_separate_columns(separator: str) -> None:
    texts = [row.replace(" ", separator) + "\r\n" for row in ROWS]
    ann, ran = parse_sentence([Line(text, "data", 1) for text in texts])
    assert (ann.document, ann.part, ann.word, ann.speaker, ann.mention) == (
        "d",
        "0",
        "Ann",
        "Bo",
        "(0)",
    )
    assert (ran.lemma, ran.frameset, ran.is_predicate, ann.is_predicate) == (
        "run",
        "01",
        True,
        False,
    )


def test_names_may_contain_spaces_between_tabs() -> None:
    text = ROWS[0].replace(" ", "\t").replace("Bo", "Bo Lee")
    (word,) = parse_sentence([Line(text, "data", 1)])
    assert word.speaker == "Bo Lee"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("d 0 1 ran", "expected at least 12 columns, got 4"),
        ("# text = Ann ran", "expected at least 12 columns, got 5"),
        (ROWS[1] + " -", "expected 12 columns as in the line before, got 13"),
        (ROWS[1].replace("0 1", "0 0"), "expected word 1 in column 3, got 0, and a blank line"),
        (ROWS[1].replace("0 1", "0 x"), "expected the number of a word in column 3, got 'x'"),
        (ROWS[1].replace("ran", "[WORD]"), r"expected a word in column 4, got '\[WORD\]'"),
        (ROWS[1].replace("Bo *", "Bo Lee *"), "expected the speaker and the named entity"),
        (ROWS[1].replace("* -", "* *"), "expected coreference, .* in the last column, got '\\*'"),
        (ROWS[1].replace(" ", "\t")[:-1], "expected coreference, .* got ''"),
    ],
)
def test_a_malformed_line_is_refused(changed: str, message: str) -> None:
    lines = [Line(ROWS[0], "data", 7), Line(changed, "data", 8)]
    with pytest.raises(ConfigurationError, match=f"^data, line 8: {message}"):
        parse_sentence(lines)


TEXTS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=4)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_written_lines_survive_a_round_trip(texts: list[str], speaker: str) -> None:
    speaker = f"{speaker} {speaker}"
    words = []
    for index, text in enumerate(texts):
        line = Line("", "data", index + 1)
        word = ConllWord(
            line, "a play", "0", str(index), text, speaker=speaker, frames=["(V*)", "*"]
        )
        words.append(word)
    lines = format_sentence(words).split("\n")
    assert lines[-2:] == ["", ""]
    found = parse_sentence([Line(text, "data", n) for n, text in enumerate(lines[:-2], start=1)])
    assert [word[1:] for word in found] == [word[1:] for word in words]


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
def test_escaped_brackets_and_marks_of_ontonotes_and_the_treebank_are_restored(
    escaped: str, plain: str
) -> None:
    assert unescape_word(escaped) == plain
