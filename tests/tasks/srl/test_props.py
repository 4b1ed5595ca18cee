"""The columns of CoNLL-2005, back and forth; errors name their line."""

import re

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import Predicate, SrlSentence, format_props, parse_conll2005, parse_props
from tests.tasks.srl.test_spans import sentences as arguments_of_sentences

TWO = "-\t(A0*)\t*\nsay\t(V*)\t*\n-\t(A1*\t(A0*)\ngo\t*)\t(V*)\n\n-\n-\n\n"
SAY = [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 4, "A1")]
GO = [Span(2, 3, "A0"), Span(3, 4, "V")]
SENTENCES = [([""] * 4, [(1, "say", SAY, True), (3, "go", GO, True)]), ([""] * 2, [])]


@st.composite
def props_sentences(draw: st.DrawFn) -> SrlSentence:
    length, arguments = draw(arguments_of_sentences().filter(lambda sentence: sentence[0] > 0))
    lemmas = st.sampled_from(["go", "Zoë", "--", "*", "a\u00a0b"])
    places = sorted(draw(st.sets(st.integers(0, length - 1), max_size=3)))
    predicates = [Predicate(place, draw(lemmas), arguments) for place in places]
    return SrlSentence([""] * length, predicates, "f.props, line 1")


def lines(text: str, file: str = "f.props") -> list[Line]:
    return [Line(line, file, number) for number, line in enumerate(text.splitlines(True), start=1)]


@given(props_sentences())
def test_propositions_survive_their_file(sentence: SrlSentence) -> None:
    predicates = [each[:3] for each in reversed(sentence.predicates)]
    rows = format_props(len(sentence.words), predicates)
    assert list(parse_props(lines("\n".join(rows)))) == [sentence]


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
    assert [sentence[:2] for sentence in parse_props(lines(text))] == SENTENCES


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("-\t*\ngo\n", 2, "expected 2 columns (as in line 1 of this sentence), got 1"),
        ("-\n\n-\t*\n-\t*\n", 3, "the sentence that begins here has 0 predicates, but 1 columns"),
        ("#begin document (a); part 000\n", 1, "expected CoNLL-2005's propositions, got #begin document (a)"),
        ("-\n\n-\t*\t*\ngo\t(V*)\t*\nbe\t*\t*)\n", 5, "column 3: '*)' closes an argument, but none is open"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(f'f.props, line {line}: {message}')}"):
        list(parse_props(lines(text)))


@pytest.mark.parametrize("lemma", ["-", "a b", ""])
def test_a_lemma_that_is_no_column_cannot_be_written(lemma: str) -> None:
    with pytest.raises(ValueError, match=f"'{lemma}' cannot be written as the lemma"):
        format_props(1, [(0, lemma, [])])


WORDS = "The DT\njudge NN\nslept VBD\n\nYes\n"
PROPS = "- (A0*\n- *)\nsleep (V*)\n\n-\n"


def sentences_of_pair(props: str, words: str) -> list[SrlSentence]:
    return list(parse_conll2005(lines(props, "props"), lines(words, "words")))


def test_words_and_propositions_of_conll_2005_are_put_together() -> None:
    slept, yes = sentences_of_pair(PROPS, WORDS)
    assert slept.words == ["The", "judge", "slept"]
    (predicate,) = slept.predicates
    assert predicate == (2, "sleep", [Span(0, 2, "A0"), Span(2, 3, "V")], True)
    assert yes[:2] == (["Yes"], [])


@pytest.mark.parametrize(
    ("props", "words", "message"),
    [
        (PROPS, WORDS.replace("judge NN\n", ""), "words, line 1: the sentence .* 2 words, but 3 lines"),
        (PROPS, WORDS.replace("Yes\n", ""), "props, line 5: the sentence .* 0 words, but 1 lines"),
        (PROPS.removesuffix("-\n"), WORDS, "words, line 5: the sentence .* 1 words, but 0 lines"),
        (PROPS.replace("sleep (V*)", "sleep"), WORDS, "props, line 3: expected 2 columns"),
    ],
)
def test_files_that_do_not_fit_are_an_error_with_file_and_line(props: str, words: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        sentences_of_pair(props, words)


def test_v_of_conll_2005_is_at_its_predicate_or_missing() -> None:
    with pytest.raises(ConfigurationError, match=r"^props, line 3: column 2: V is not .* in line 2"):
        sentences_of_pair("- (A0*)\n- (V*)\nsleep *\n", "The\njudge\nslept\n")
    (sentence,) = sentences_of_pair("- (A0*\n- *)\nsleep *\n", "The\njudge\nslept\n")
    assert sentence.predicates[0].arguments == [Span(0, 2, "A0")]
    (sentence,) = sentences_of_pair("- (V*\nsleep *)\n", "oversleep\nslept\n")
    assert sentence.predicates[0].word == 1
