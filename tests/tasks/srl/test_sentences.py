"""Sentences with their predicates: what is read, and what is refused by file and line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers.dataset_utils.span_utils import bio_tags_to_spans
from allennlp.data.token_indexers import SingleIdTokenIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.spans import LabelError, Span, tags_to_spans
from elmo_plugin.tasks.srl import SrlPredicatesReader, SrlReader
from elmo_plugin.tasks.srl.sentences import (
    SrlSentence,
    parse_conll2012,
    parse_labels,
    parse_props,
    sentence_in,
)

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl" / "sentences.gold_conll"


def lines_of(text: str, file: str = "data") -> list[Line]:
    return [Line(line, file, number) for number, line in enumerate(text.splitlines(True), start=1)]


def sentences_in(text: str) -> list[SrlSentence]:
    return list(parse_conll2012(lines_of(text)))


def row(word: str, *labels: str, lemma: str = "-", frameset: str = "-", tag: str = "X") -> str:
    return " ".join(["doc", "0", "0", word, tag, "*", lemma, frameset, "-", "-", "*", *labels, "-"])


def test_a_sentence_has_its_words_and_a_predicate_for_each_column() -> None:
    judge, she, dogs, plan = sentences_in(FIXTURE.read_text(encoding="utf-8"))
    assert judge.words == ["The", "judge", "ordered", "a", "new", "trial", "."]
    (ordered,) = judge.predicates
    assert (ordered.word, ordered.lemma) == (2, "order")
    assert ordered.arguments == [Span(0, 2, "ARG0"), Span(2, 3, "V"), Span(3, 6, "ARG1")]
    assert she.predicates == []
    assert [(each.word, each.lemma) for each in dogs.predicates] == [(2, "bark"), (3, "scare")]
    assert [each.is_verb for each in plan.predicates] == [True, False, False]


def test_brackets_and_quotation_marks_are_those_of_plain_text() -> None:
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
    ],
)
def test_auxiliaries_and_other_parts_of_speech_are_no_verbs(
    tag: str, frame: str, is_verb: bool
) -> None:
    lemma, frameset = frame.split(".")
    ((_, (predicate,), _),) = sentences_in(
        row("w", "(V*)", lemma=lemma, frameset=frameset, tag=tag)
    )
    assert predicate.is_verb == is_verb


def test_a_bracket_of_v_at_another_word_than_the_frameset_is_an_error() -> None:
    text = "\n".join([row("Ada", "(V*)"), row("sold", "(A0*)", lemma="sell", frameset="01")])
    message = "data, line 1: column 12 has (V*) at 'Ada', but its lemma and frameset are at 'sold'"
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        sentences_in(text)
    text = "\n".join([row("gave", "(V*", lemma="give", frameset="01"), row("up", "*)")])
    assert sentences_in(text)[0].predicates[0].word == 0


def test_without_a_bracket_of_v_the_words_with_framesets_are_the_predicates() -> None:
    text = "\n".join([row("Go", "*", "(A1*)", lemma="go", frameset="01"), row("home", "*", "*")])
    with pytest.raises(
        ConfigurationError, match=r"^data, line 1: column 12 .* lacks its predicate"
    ):
        sentences_in(text)
    text = "\n".join([row("Go", "*", lemma="go", frameset="01"), row("home", "(AM-DIR*)")])
    ((_, (predicate,), _),) = sentences_in(text)
    assert predicate.word == 0


GO = [
    row("She", "(A0*)", "*"),
    row("went", "(V*)", "*", lemma="go", frameset="01"),
    row("home", "*", "(V*)", lemma="home", frameset="01"),
]


@pytest.mark.parametrize("coreference", [" -", " (0)", " _", " *", "", "\t", "\t_", "\t-\t"])
def test_the_column_of_coreference_may_be_blank_or_missing(coreference: str) -> None:
    rows = [line.removesuffix(" -") for line in GO]
    if "\t" in coreference:
        rows = [line.replace(" ", "\t").replace("doc", "my doc") for line in rows]
    ((_, (went, home), _),) = sentences_in("\n".join(line + coreference for line in rows))
    assert went.arguments == [Span(0, 1, "A0"), Span(1, 2, "V")]
    assert home.arguments == [Span(2, 3, "V")]
    ((_, only, _), (_, nothing, _)) = sentences_in(
        f"{GO[1].removesuffix(' * -')}\n\n{row('Yes').removesuffix(' -')}"
    )
    assert ([predicate.lemma for predicate in only], nothing) == (["go"], [])


def test_the_end_of_a_document_ends_a_sentence() -> None:
    text = (
        f"#begin document (a)\n{row('A')}\n#end document\n#begin document "
        f"(b)\n{row('B')}\n#end document"
    )
    assert [sentence.words for sentence in sentences_in(text)] == [["A"], ["B"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{row('a', '*')}\n{row('b')}", "data, line 2: expected 13 columns .*, got 12"),
        (
            "EU _ _ B-ORG",
            "data, line 1: expected JSON lines or CoNLL-2012 .* got 4, 'EU _ _ B-ORG'",
        ),
        ("1 a a X X _ 2 nsubj _ _ _\n2 go go X X _ 0 root _ _ go.01", ".* 1: .* got 11, '1 a"),
        (
            "1 a a a X X _ _ 2 2 S S _ _ A0\n2 go go go X X _ _ 0 0 R R Y go.01 _",
            ".* got 15, '1 a a",
        ),
        (
            f"{row('a')}\n{row('b')}".replace("doc 0 0", "my doc 0 0").replace("0 b", "1 b"),
            ".* got 13, ",
        ),
        (
            row("a", "*").replace(" - - *", " - Ann Lee *"),
            ".* column 12 .* lacks its predicate, .* tabs",
        ),
        (
            row("go", lemma="go", frameset="01"),
            "data, line 1: expected 1 columns of arguments .*, got none",
        ),
        (row("[WORD]"), r"data, line 1: the words are missing, \[WORD\]"),
        (
            f"{row('a', '(V*')}\n{row('b', '*')}",
            r"data, line 1: column 12: '\(V\*' is never closed",
        ),
    ],
)
def test_what_is_no_conll_2012_is_an_error_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        sentences_in(text)


INDEXERS = {"tokens": SingleIdTokenIndexer()}
WORDS = ["The", "cook", "burned", "a", "cake"]
TAGS = ["B-ARG0", "I-ARG0", "B-V", "B-ARG1", "I-ARG1"]
ARGUMENTS = [Span(0, 2, "ARG0"), Span(2, 3, "V"), Span(3, 5, "ARG1")]
OBJECTS = [{"role": role, "start": start, "end": end} for start, end, role in ARGUMENTS]
SHAPES = {
    "AllenNLP": {"verbs": [{"verb": "burned", "description": "", "tags": TAGS}], "words": WORDS},
    "elmo_srl": {"words": WORDS, "frames": [{"index": 2, "tags": TAGS, "roles": OBJECTS}]},
    "roles": {"words": WORDS, "frames": [{"index": 2, "roles": [OBJECTS[2], OBJECTS[0]]}]},
}


def read(fields: dict[str, Any]) -> SrlSentence:
    return sentence_in((Line(json.dumps(fields), "data", 3), fields))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sentence_has_the_same_frames_in_each_shape(shape: str) -> None:
    words, (predicate,), _ = read(SHAPES[shape])
    assert (words, predicate) == (WORDS, (2, "burned", ARGUMENTS, True))


def test_both_readers_read_json_lines(tmp_path: Path) -> None:
    records = [SHAPES["AllenNLP"], {"words": ["Yes"], "verbs": []}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n\n")
    (instance,) = SrlReader(INDEXERS).read(tmp_path)
    assert (instance["tags"].labels, instance["frame"].metadata["lemma"]) == (TAGS, "burned")
    found = SrlPredicatesReader(INDEXERS, format="jsonl").read(tmp_path / "a.jsonl")
    assert [instance["tags"].labels for instance in found] == [[0, 0, 1, 0, 0], [0]]
    (tmp_path / "b.json").write_text(json.dumps(records))
    (instance,) = SrlReader(INDEXERS).read(tmp_path / "b.json")
    assert instance["tags"].labels == TAGS


def with_frame(**frame: Any) -> dict[str, Any]:
    return {"words": WORDS, "frames": [frame]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sentence": "The cook"}, 'expected "words", a list of words, got .\'sentence'),
        ({"words": WORDS}, 'expected "frames", a list of objects, got'),
        (with_frame(index=2), 'expected "frames" with 5 "tags" or with "roles", got'),
        (with_frame(index=2, tags=TAGS[1:]), 'expected "frames" with 5 "tags"'),
        (with_frame(index=2, tags=["ARG0", *TAGS[1:]]), "'ARG0' is not a BIO tag"),
        (with_frame(index=0, tags=TAGS), "V is not at its predicate, 'The', but at 'burned'"),
        (with_frame(index=5, tags=["O"] * 5), 'expected an "index" of the predicate below 5'),
        (with_frame(tags=["O"] * 5, verb="cook"), 'expected an "index" of the predicate'),
        (
            with_frame(index=2, roles=[{**OBJECTS[0], "end": 9}]),
            "ARG0 is not in a sentence of 5 words",
        ),
        (
            with_frame(index=2, roles=[OBJECTS[0], OBJECTS[0]]),
            "ARG0 begins inside another argument",
        ),
        (
            with_frame(index=2, roles=[{"role": "A", "start": "0", "end": 1}]),
            "expected a role such as",
        ),
        (
            with_frame(index=2, roles=[{"role": "A", "start": 0, "end": 1, "text": "The cook"}]),
            "expected \"end\" after the last word of 'The cook', got 1",
        ),
    ],
)
def test_another_shape_is_an_error_with_file_and_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^data, line 3: {message}"):
        read(fields)


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
    assert [sentence[:2] for sentence in parse_props(lines_of(text))] == SENTENCES


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
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(f'data, line {line}: {message}')}"):
        list(parse_props(lines_of(text)))


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


FILE = (FIXTURE.parent / "universal.conllup").read_text("utf-8")


def sentences_of(text: str) -> list[SrlSentence]:
    return list(SrlReader({}).read_sentences(lines_of(text, "f")))


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), FILE.rstrip()])
def test_arguments_are_between_the_numbers_of_their_words(text: str) -> None:
    (words, (first, second), _), (yes, none, place) = sentences_of(text)
    assert words == ["Elle", "lutte", "pour", "échapper", "à", "les gens"]
    assert first == (1, "lutte", [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 6, "A1")], True)
    assert second == (3, "échapper", [Span(3, 4, "V"), Span(4, 6, "A1")], True)
    assert (yes, none, place) == (["Oui"], [], "f, line 11")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            FILE.replace("FORM ", ""),
            "f, line 1: expected the columns ID, .* got ID, UPOS, .*merge_ud_up",
        ),
        (FILE.replace("\n\n", "\n"), "f, line 10: expected word 7 .* got 1 .*; a blank line"),
        (FILE.replace("A1:5-6", "A1:5"), "f, line 6: .* such as A0:1-1.A1:3-7, got 4 and 'A1:5'"),
        (FILE.replace("A1:5-6", "A1:5-9"), "f, line 3: A1 is not in a sentence of 6 words"),
        (FILE.replace("A1:3-6", "A1:1-6"), "f, line 3: A1 begins inside another argument"),
        (FILE.replace("\tINTJ", ""), "f, line 11: expected 6 columns"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        sentences_of(text)
