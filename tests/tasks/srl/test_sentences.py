"""Sentences with their predicates in CoNLL-2012: what is read, and what is refused by its line."""

import re
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers.dataset_utils.span_utils import bio_tags_to_spans
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import LabelError, Span, tags_to_spans
from elmo_plugin.tasks.srl.sentences import (
    SrlSentence,
    format_labels,
    parse_conll2012,
    parse_labels,
)

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl" / "sentences.gold_conll"
IMPORT = "; `elmo import srl` makes CoNLL-2012 of files of other forms"


def lines_of(text: str, file: str = "data") -> list[Line]:
    return [Line(line, file, number) for number, line in enumerate(text.splitlines(True), start=1)]


def sentences_in(text: str) -> list[SrlSentence]:
    return list(parse_conll2012(lines_of(text)))


def row(
    word: str, *labels: str, number: int = 0, lemma: str = "-", frameset: str = "-", tag: str = "X"
) -> str:
    fixed = ["doc", "0", str(number), word, tag, "*", lemma, frameset, "-", "-", "*"]
    return " ".join([*fixed, *labels, "-"])


def test_a_sentence_is_read_with_a_predicate_per_column() -> None:
    judge, she, dogs, plan = sentences_in(FIXTURE.read_text(encoding="utf-8"))
    assert judge.words == ["The", "judge", "ordered", "a", "new", "trial", "."]
    (ordered,) = judge.predicates
    assert (ordered.word_index, ordered.lemma) == (2, "order")
    assert ordered.arguments == [Span(0, 2, "ARG0"), Span(2, 3, "V"), Span(3, 6, "ARG1")]
    assert she.predicates == []
    assert [(each.word_index, each.lemma) for each in dogs.predicates] == [
        (2, "bark"),
        (3, "scare"),
    ]
    assert [each.is_verb for each in plan.predicates] == [True, False, False]


def test_brackets_and_quotation_marks_become_those_of_plain_text() -> None:
    _, she, dogs, _ = sentences_in(FIXTURE.read_text(encoding="utf-8"))
    assert she.words == ['"', "She", '"']
    assert dogs.words[5:8] == ["(", "often", ")"]


@pytest.mark.parametrize(
    ("tag", "frame", "is_verb"),
    [
        ("VBD", "say.01", True),
        ("MD", "will.01", False),
        ("VBZ", "be.03", False),
        ("VBZ", "be.01", True),
        ("NNS", "sale.01", False),
        ("-", "go.01", True),
        ("_", "be.03", False),
    ],
)
def test_auxiliaries_and_other_known_parts_of_speech_do_not_count_as_verbs(
    tag: str, frame: str, is_verb: bool
) -> None:
    lemma, frameset = frame.split(".")
    ((_, (predicate,), _),) = sentences_in(
        row("w", "(V*)", lemma=lemma, frameset=frameset, tag=tag)
    )
    assert predicate.is_verb == is_verb


def test_a_predicate_without_a_lemma_uses_its_word() -> None:
    text = "\n".join([row("Dogs", "(A0*)"), row("bark", "(V*)", number=1)])
    ((_, (predicate,), _),) = sentences_in(text)
    assert (predicate.word_index, predicate.lemma) == (1, "bark")


def test_a_predicate_of_two_words_is_placed_at_the_first() -> None:
    text = "\n".join([row("gave", "(V*", lemma="give", frameset="01"), row("up", "*)", number=1)])
    assert sentences_in(text)[0].predicates[0].word_index == 0


SOLD = row("sold", "(A0*)", number=1, lemma="sell", frameset="01")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{row('Ada', '(V*)')}\n{SOLD}",
            "data, line 1: column 12 has (V*) at 'Ada', but its lemma and frameset are at 'sold'",
        ),
        (
            f"{row('Ada', '*')}\n{SOLD}",
            "data, line 1: expected (V*) once in column 12 of the sentence that begins here, at "
            "the predicate, got it 0 times",
        ),
        (
            f"{row('know', '(V*)')}\n{row('work', '(V*)', number=1)}",
            "data, line 1: expected (V*) once in column 12 of the sentence that begins here, at "
            "the predicate, got it 2 times",
        ),
        (
            f"{row('Ada')}\n{row('left', number=1, lemma='leave', frameset='01')}",
            "data, line 2: expected 1 columns of arguments in this sentence, one for each lemma",
        ),
        (
            f"{row('a', '(V*')}\n{row('b', '*', number=1)}",
            "data, line 1: column 12: '(V*' is never closed",
        ),
        ("EU _ _ B-ORG", "data, line 1: expected at least 12 columns, got 4"),
        ('{"words": ["a"]}', "data, line 1: expected at least 12 columns, got 2"),
        (
            row("go", "(V*)").removesuffix(" -"),
            "data, line 1: expected coreference, such as (12 or -, in the last column, got '(V*)'",
        ),
    ],
)
def test_malformed_files_are_refused_naming_the_importer(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        sentences_in(text)
    assert str(caught.value).startswith(message) and str(caught.value).endswith(IMPORT)


def test_the_end_of_a_document_ends_a_sentence() -> None:
    text = (
        f"#begin document (a)\n{row('A')}\n#end document\n#begin document "
        f"(b)\n{row('B')}\n#end document"
    )
    assert [sentence.words for sentence in sentences_in(text)] == [["A"], ["B"]]


@given(st.lists(st.sampled_from(["(A*", "(B*", "*", "*)", "(A*)", "*B)"]), max_size=9))
def test_a_column_is_refused_or_read_to_its_last_bracket(labels: list[str]) -> None:
    """By counting brackets: at most one is open at any word, and none at the end."""
    text = "".join(labels)
    depths = [text[: end + 1].count("(") - text[: end + 1].count(")") for end in range(len(text))]
    is_legal = all(depth in (0, 1) for depth in depths) and (depths or [0])[-1] == 0
    is_legal = is_legal and all(role == "B" for role in re.findall(r"\((\w)[^()]*B\)", text))
    try:
        arguments = parse_labels(labels)
    except LabelError as error:
        assert not is_legal and 0 <= error.word_index < len(labels)
    else:
        assert is_legal
        starts, ends, _ = zip(*arguments, strict=True) if arguments else ((), (), ())
        assert starts == tuple(row for row, label in enumerate(labels) if "(" in label)
        assert ends == tuple(row + 1 for row, label in enumerate(labels) if ")" in label)


@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=9))
def test_bio_tags_are_interpreted_as_by_allennlp(tags: list[str]) -> None:
    expected = [(start, last + 1, role) for role, (start, last) in bio_tags_to_spans(tags)]
    assert tags_to_spans(tags) == sorted(expected)


@st.composite
def arguments_of_words(draw: st.DrawFn) -> tuple[list[Span], int]:
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    spans = []
    start = 0
    for length in lengths:
        if draw(st.booleans()):
            spans.append(Span(start, start + length, draw(st.sampled_from(["A0", "V", "C-A1"]))))
        start += length
    return spans, start


@given(arguments_of_words())
def test_writing_and_reading_a_column_keeps_the_arguments(case: tuple[list[Span], int]) -> None:
    spans, length = case
    assert parse_labels(format_labels(spans, length)) == spans
