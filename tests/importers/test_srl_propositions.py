"""Propositions without words, as files to score have them."""

import re

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.srl_propositions import read_propositions
from elmo_plugin.tasks.spans import Span
from tests.tasks.srl.test_sentences import lines_of

TWO = "-\t(A0*)\t*\nsay\t(V*)\t*\n-\t(A1*\t(A0*)\ngo\t*)\t(V*)\n\n-\n-\n\n"
SAY = [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 4, "A1")]
GOES = [Span(2, 3, "A0"), Span(3, 4, "V")]
SENTENCES = [([""] * 4, [(1, "say", SAY, True), (3, "go", GOES, True)]), ([""] * 2, [])]


@pytest.mark.parametrize(
    "text",
    [
        TWO.rstrip("\n"),  # nothing after the last word
        TWO.replace("\n", "\r\n"),
        "\n \n" + TWO.replace("\n\n", "\n\n\n"),  # more blank lines
        TWO.replace("\t", "      "),
    ],
)
def test_white_space_separates_columns_and_blank_lines_sentences(text: str) -> None:
    assert [sentence[:2] for sentence in read_propositions(lines_of(text))] == SENTENCES


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("-\t*\ngo\n", 2, "expected 2 columns (as in line 1 of this sentence), got 1"),
        ("-\n\n-\t*\n-\t*\n", 3, "the sentence that begins here has 0 predicates, but 1 columns"),
        (
            "-\n\n-\t*\t*\ngo\t(V*)\t*\nbe\t*\t*)\n",
            5,
            "column 3: '*)' closes an argument, but none is open",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(f'data, line {line}: {message}')}"):
        list(read_propositions(lines_of(text)))
