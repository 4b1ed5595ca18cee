"""Files that are plainly no sentences are refused where sentences are read, and a column of words
is read.
"""

import pytest

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.sentences import sentence_lines

CONLLU = (
    "# text = It "
    "rains\n1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n1.1\t_{0}\n2\trains{0}\n\n1\tYes{0}\n"
).format("\t_" * 8)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CONLLU, "columns between tabs, CoNLL-U; --column N"),
        ("Ola B-PER\nran O\n", "columns of words and tags; --column N"),
        ("Ola NNP B-PER\n", "columns of words and tags"),
        ("1\tIt rains.\n2\tNo.\n", "columns between tabs"),
        ("text,label\nIt rains.,bad\n", "a table, CSV"),
        ('{"text": "It rains."}\n', "JSON"),
        ("[\n{}\n]\n", "JSON"),
        ('<?xml version="1.0"?>\n<a/>\n', "XML or HTML"),
        ("(2 (2 It) (2 rains))\n", "trees"),
        (">P1 human\nMKTAY\nMK*\n>P2\nMK-T\n", r"FASTA; name its file \.fasta"),
        ("@r1\nACGT\n+\nIIII\n", "FASTQ"),
        ("1\n0:01:02.5 --> 0:01:04.0\nYes.\n", "subtitles"),
        ("WEBVTT\n\nNOTE x\n", "subtitles"),
        ("T1\tPER 0 3\tOla\nR1\tOf Arg1:T1 Arg2:T1\n", "brat's annotations"),
        ("Ola|PER ran|O\nNo|O one|O\n", "words with their tags"),
        ("the/at dog/nn ran/vbd ./.\n", "words with their tags"),
        ("It_PRP rains_VBZ ,_, no_UH\n", "words with their tags"),
        ("It PRP\nrains VBZ\nhard RB\n. .\n", "columns of words and tags; --column N"),
        ("It\nrains\n.\n\nNo\n", "columns, a word in each line; --column N"),
    ],
)
def test_a_file_that_is_no_text_is_refused_with_a_remedy(text: str, kind: str) -> None:
    with pytest.raises(BiLmError, match=f"x: expected one sentence per line, got {kind}"):
        list(sentence_lines(iter(text.encode().splitlines(True)), "x"))


@pytest.mark.parametrize(
    "text",
    [
        "Yes, no\nNo, yes\n",
        "It rains .\n",
        "[ It ]\n",
        "# 1 is here\n",
        "",
        "a\tb\n",
        "vitamin O\n1 2\n",
        ">It rains\n>it snows , too\nNo !\n",
        "> No\nYes\n",
        "and/or either/or\n",
        "1/2 3/4 1/8 5/8\n",
        "snake_case is not camelCase here\n",
        "A B C D\nE F G H\nI J K L\nM N O P\n",
        "one by USA\ntwo by UK\nthree by .\nNo !\n",
        "Yes\nNo\nMaybe\n\nRight\n",
        "see --> here\n",
    ],
)
def test_plain_text_is_not_mistaken_for_another_format(text: str) -> None:
    assert b"".join(sentence_lines(iter(text.encode().splitlines(True)), "x")).decode() == text


def test_a_column_of_words_makes_sentences() -> None:
    assert list(sentence_lines(iter(CONLLU.encode().splitlines(True)), "x", 1)) == [
        b"It rains\n",
        b"Yes\n",
    ]
    with pytest.raises(BiLmError, match="x, line 1: expected column 3 of 2, from 0"):
        list(sentence_lines(iter([b"a b\n"]), "x", 3))


def test_words_of_the_first_column_may_look_like_comments_or_numbers_of_words() -> None:
    text = b"# newdoc\nIt O\nended O\n8-5 O\n#final O\n# O\n# id = 2\n"
    for line_end in (b"\n", b"\r\n", b" \n"):
        lines = text.replace(b"\n", line_end).splitlines(True)
        assert list(sentence_lines(iter(lines), "x", 0)) == [b"It ended 8-5 #final #\n"]


def column(text: str, number: int) -> list[str]:
    lines = text.encode().splitlines(True)
    return b"".join(sentence_lines(iter(lines), "x", number)).decode().split()


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "\u2028"])
def test_each_row_of_a_table_is_a_word_that_may_contain_spaces(space: str) -> None:
    assert column(f"Il\tP\n10{space}000\tN\namis\tN\n", 0) == ["Il", "10_000", "amis"]


def test_leading_numbers_are_dropped_from_conllu_only() -> None:
    assert column("cost\tcosts\n3.5\t3.5\n2019-20\t2019-20\n", 1) == ["costs", "3.5", "2019-20"]
    assert column("0.10\tHello\n0.55\tworld\n", 1) == ["Hello", "world"]
    assert column("1-2\tim\n1\tin\n2\tdem\n2.1\tx\n", 1) == ["in", "dem"]


def test_a_row_without_a_word_is_an_error() -> None:
    with pytest.raises(BiLmError, match="x, line 2: column 0 has no word"):
        column("a\tX\n \tY\n", 0)


@pytest.mark.parametrize(("words", "warnings"), [(500, 0), (501, 1)])
def test_a_column_without_blank_lines_is_a_warning(
    words: int, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(list(sentence_lines(iter([b"word O\n"] * words), "x", 0))) == 1
    assert [*caplog.messages] == [
        "x: a sentence of 501 words; a blank line ends a sentence"
    ] * warnings
