"""Semantic roles in columns that are not quite CoNLL-2012's."""

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.report import Report
from elmo_plugin.importers.srl_columns import read_srl_columns
from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import SrlSentence, sentence_of
from tests.tasks.srl.test_sentences import lines_of


def sentences_in(text: str, report: Report | None = None) -> list[SrlSentence]:
    examples = read_srl_columns(lines_of(text), report or Report("data"))
    return [sentence_of(example.words) for example in examples]


def row(word: str, *labels: str, lemma: str = "-", frameset: str = "-", tag: str = "X") -> str:
    return " ".join(["doc", "0", "0", word, tag, "*", lemma, frameset, "-", "-", "*", *labels, "-"])


def test_words_with_framesets_are_predicates_if_no_bracket_marks_v() -> None:
    report = Report("data")
    text = "\n".join([row("Go", "*", lemma="go", frameset="01"), row("home", "(AM-DIR*)")])
    ((_, (predicate,), _),) = sentences_in(text, report)
    assert (predicate.word_index, predicate.arguments) == (
        0,
        [Span(0, 1, "V"), Span(1, 2, "AM-DIR")],
    )
    assert report.findings == ["predicates without (V*) are the words with a lemma and a frameset"]
    text = "\n".join([row("Go", "*", "(A1*)", lemma="go", frameset="01"), row("home", "*", "*")])
    with pytest.raises(
        ConfigurationError, match=r"^data, line 1: expected \(V\*\) once in column 12"
    ):
        sentences_in(text)


WEBANNO = [
    row("Pupils", "(A0*)", "*"),
    row("know", "(V*)", "(V*)", lemma="know", frameset="null"),
    row("ways", "(A1*", "(A0*)"),
    row("that", "*", "*"),
    row("work", "*)", "(V*)", lemma="work", frameset="null"),
]


def test_each_column_of_webanno_belongs_to_the_lemma_of_its_number() -> None:
    report = Report("data")
    text = "\n".join(WEBANNO)
    ((_, (know, work), _),) = sentences_in(text, report)
    assert know.arguments == [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 5, "A1")]
    assert (work.word_index, work.arguments) == (4, [Span(2, 3, "A0"), Span(4, 5, "V")])
    assert "as WebAnno writes it" in report.findings[0]


def test_two_predicates_in_a_column_are_refused_if_lemmas_do_not_tell_them_apart() -> None:
    text = "\n".join([row("know", "(V*)"), row("work", "(V*)")])
    with pytest.raises(
        ConfigurationError, match=r"^data, line 1: expected \(V\*\) once .* got it 2"
    ):
        sentences_in(text)


GO = [
    row("She", "(A0*)", "*"),
    row("went", "(V*)", "*", lemma="go", frameset="01"),
    row("home", "*", "(V*)", lemma="home", frameset="01"),
]


@pytest.mark.parametrize("coreference", [" -", " (0)", " _", " *", "", "\t", "\t_", "\t-\t"])
def test_the_coreference_column_may_be_blank_or_missing(coreference: str) -> None:
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
            "data, line 1: expected the speaker and the named entity in columns 10 and 11, .* tabs",
        ),
        (
            row("go", lemma="go", frameset="01"),
            "data, line 1: expected 1 columns of arguments .*, got none",
        ),
        (
            "\n".join([row("a"), row("b")]).replace(" ", "\t").replace("\tb\t", "\t\t"),
            "data, line 2: expected a word in column 4, got ''",
        ),
        (row("[WORD]"), r"data, line 1: the words are missing, \[WORD\]"),
        (
            f"{row('a', '(V*')}\n{row('b', '*')}",
            r"data, line 1: column 12: '\(V\*' is never closed",
        ),
    ],
)
def test_malformed_conll_2012_is_an_error_naming_file_and_line(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        sentences_in(text)
