"""The columns of CoNLL-2012: what is read, and what is said of files that have others."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks import Line
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import SrlSentence, parse_conll2012

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl" / "sentences.gold_conll"


def lines_of(text: str, file: str = "data") -> list[Line]:
    return [Line(line, file, number) for number, line in enumerate(text.splitlines(), start=1)]


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
def test_auxiliaries_and_other_parts_of_speech_are_no_verbs(tag: str, frame: str, is_verb: bool) -> None:
    lemma, frameset = frame.split(".")
    ((_, (predicate,), _),) = sentences_in(row("w", "(V*)", lemma=lemma, frameset=frameset, tag=tag))
    assert predicate.is_verb == is_verb


def test_without_a_bracket_of_v_the_words_with_framesets_are_the_predicates() -> None:
    text = "\n".join([row("Go", "*", "(A1*)", lemma="go", frameset="01"), row("home", "*", "*")])
    with pytest.raises(ConfigurationError, match=r"^data, line 1: column 12 .* lacks its predicate"):
        sentences_in(text)
    text = "\n".join([row("Go", "*", lemma="go", frameset="01"), row("home", "(AM-DIR*)")])
    ((_, (predicate,), _),) = sentences_in(text)
    assert predicate.word == 0


GO = [row("She", "(A0*)", "*"), row("went", "(V*)", "*", lemma="go", frameset="01"),
      row("home", "*", "(V*)", lemma="home", frameset="01")]  # fmt: skip


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
    text = f"#begin document (a)\n{row('A')}\n#end document\n#begin document (b)\n{row('B')}\n#end document"
    assert [sentence.words for sentence in sentences_in(text)] == [["A"], ["B"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{row('a', '*')}\n{row('b')}", "data, line 2: expected 13 columns .*, got 12"),
        ("EU _ _ B-ORG", "data, line 1: expected JSON lines or CoNLL-2012 .* got 4, 'EU _ _ B-ORG'"),
        ("1 a a X X _ 2 nsubj _ _ _\n2 go go X X _ 0 root _ _ go.01", ".* 1: expected .* got 11, '1 a"),
        ("1 a a a X X _ _ 2 2 S S _ _ A0\n2 go go go X X _ _ 0 0 R R Y go.01 _", ".* got 15, '1 a a"),
        (f"{row('a')}\n{row('b')}".replace("doc 0 0", "my doc 0 0").replace("0 b", "1 b"), ".* got 13, "),
        (row("a", "*").replace(" - - *", " - Ann Lee *"), ".* column 12 .* lacks its predicate, .* tabs"),
        (row("go", lemma="go", frameset="01"), "data, line 1: expected 1 columns of arguments .*, got none"),
        (row("[WORD]"), r"data, line 1: the words are missing, \[WORD\]"),
        (f"{row('a', '(V*')}\n{row('b', '*')}", r"data, line 1: column 12: '\(V\*' is never closed"),
    ],
)
def test_what_is_no_conll_2012_is_an_error_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        sentences_in(text)
