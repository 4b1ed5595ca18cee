"""Props files, back and forth; what is wrong in one is named with its line."""

import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.srl.props import (
    Proposition,
    PropsSentence,
    format_props,
    parse_props,
    read_props,
    write_props,
)
from elmo_plugin.tasks.srl.spans import Argument
from tests.tasks.srl.test_spans import sentences as arguments_of_sentences

TWO = b"-\t(A0*)\t*\nsay\t(V*)\t*\n-\t(A1*\t(A0*)\ngo\t*)\t(V*)\n\n-\n-\n\n"
SENTENCES = [
    PropsSentence(
        4,
        [
            Proposition(1, "say", [Argument("A0", 0, 1), Argument("V", 1, 2), Argument("A1", 2, 4)]),
            Proposition(3, "go", [Argument("A0", 2, 3), Argument("V", 3, 4)]),
        ],
    ),
    PropsSentence(2, []),
]


@st.composite
def props_sentences(draw: st.DrawFn) -> PropsSentence:
    length, _ = sentence = draw(arguments_of_sentences().filter(lambda sentence: sentence[0] > 0))
    places = draw(st.sets(st.integers(0, length - 1), max_size=3))
    lemmas = st.sampled_from(["go", "Zoë", "--", "*", "a\u00a0b"])
    return PropsSentence(
        length, [Proposition(place, draw(lemmas), sentence[1]) for place in sorted(places)], "f.props"
    )


def lines(text: str) -> list[Line]:
    return [Line(line, "f.props", number) for number, line in enumerate(text.splitlines(True), start=1)]


def without_places(sentences: list[PropsSentence]) -> list[PropsSentence]:
    return [sentence._replace(file="", first_line=1) for sentence in sentences]


@given(props_sentences())
def test_propositions_survive_their_file(sentence: PropsSentence) -> None:
    assert list(parse_props(lines("\n".join(format_props(sentence))))) == [sentence]


@pytest.mark.parametrize(
    "content",
    [
        TWO,
        TWO.rstrip(b"\n"),  # nothing after the last word
        TWO.replace(b"\n", b"\r\n"),
        b"\n \n" + TWO.replace(b"\n\n", b"\n\n\n"),  # more blank lines
        TWO.replace(b"\t", b"      "),
        b"-      (A0*)       *\nsay      (V*)       *\n-       (A1*    (A0*)\ngo         *)    (V*)\n\n-\n-",
    ],
)
def test_white_space_separates_columns_and_blank_lines_sentences(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "f.props"
    path.write_bytes(content)
    assert without_places(list(read_props(path))) == SENTENCES


def test_what_is_written_is_what_was_read(tmp_path: Path, shared: Path) -> None:
    (tmp_path / "f.props").write_bytes(TWO)
    for path in (tmp_path / "f.props", *sorted((shared / "parity" / "srl").glob("*.props"))):
        write_props(tmp_path / "written.props", read_props(path))
        assert (tmp_path / "written.props").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("-\t*\ngo\n", 2, "expected 2 columns (as in line 1 of this sentence), got 1"),
        ("-\n\n-\t*\ngo\t(V*)\t*\n", 4, "expected 2 columns (as in line 3 of this sentence), got 3"),
        (
            "-\n\n-\t*\n-\t*\n",
            3,
            "the sentence that begins here has 0 predicates, but 1 columns of arguments",
        ),
        ("#begin document (a); part 000\n", 1, "expected CoNLL-2005's propositions, got #begin document (a)"),
        ('{"words": ["Yes"], "frames": []}\n', 1, "expected CoNLL-2005's propositions, got {"),
        ("-\t(A0*\ngo\t*\n", 1, "column 2: '(A0*' is never closed"),
        ("-\n\n-\t*\t*\ngo\t(V*)\t*\nbe\t*\t*)\n", 5, "column 3: '*)' closes an argument, but none is open"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(f'f.props, line {line}: {message}')}"):
        list(parse_props(lines(text)))


def test_a_predicate_needs_no_v(tmp_path: Path) -> None:
    """As in srl-eval.pl; a system may have missed it."""
    (sentence,) = parse_props(lines("-\t(A0*)\ngo\t*\n"))
    assert sentence.propositions == [(1, "go", [("A0", 0, 1)])]


@pytest.mark.parametrize(
    ("propositions", "message"),
    [
        ([Proposition(0, "-", [])], "'-' cannot be written as the lemma"),
        ([Proposition(2, "go", [])], "the predicate go is not at a word of its own: 2"),
        (
            [Proposition(1, "be", []), Proposition(1, "go", [])],
            "the predicate go is not at a word of its own",
        ),
        ([Proposition(1, "go", [Argument("A0", 0, 3)])], "A0 is not in a sentence of 2 words"),
    ],
)
def test_what_cannot_be_written_leaves_the_file_of_before(
    tmp_path: Path, propositions: list[Proposition], message: str
) -> None:
    path = tmp_path / "f.props"
    path.write_bytes(TWO)
    with pytest.raises(ConfigurationError, match=re.escape(f"f.props, sentence 2: {message}")):
        write_props(path, [SENTENCES[0], PropsSentence(2, propositions)])
    assert path.read_bytes() == TWO
    assert list(tmp_path.iterdir()) == [path]
