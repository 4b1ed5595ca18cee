"""Semantic roles of single words: CoNLL-2009, CoNLL-2008, CoNLL-U; and CoNLL-2005's brackets."""

from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.spans import Span
from elmo_plugin.tasks.srl.sentences import SrlSentence, sentence_of
from tests.importers.reading import read

EXPECTED = [Span(0, 1, "A0"), Span(1, 2, "V"), Span(3, 4, "A1")]
WORDS = ["Dogs", "scare", "big", "cats"]
PREDICATES = ["_", "scare.01", "_", "_"]
ARGUMENTS = ["A0", "_", "_", "A1"]


def sentence_in(path: Path, rows: list[list[str]], between: str = "\t") -> SrlSentence:
    content = "\n".join([between.join(row) for row in rows] + [""])
    examples, _ = read("srl", path, content)
    return sentence_of(examples[0].words)


def conll2009() -> list[list[str]]:
    rows = []
    for number in range(4):
        flag = "Y" if PREDICATES[number] != "_" else "_"
        annotation = ["x", "x", "N", "N", "_", "_", "2", "2", "S", "S"]
        fields = [str(number + 1), WORDS[number], *annotation, flag]
        rows.append([*fields, PREDICATES[number], ARGUMENTS[number]])
    return rows


def conllu(with_flags: bool) -> list[list[str]]:
    rows = []
    for number in range(4):
        fields = [str(number + 1), WORDS[number], "x", "N", "_", "_", "2", "nsubj", "_", "_"]
        if with_flags:
            fields.append("Y" if PREDICATES[number] != "_" else "_")
        rows.append([*fields, PREDICATES[number], ARGUMENTS[number]])
    return rows


def first_universal_propositions() -> list[list[str]]:
    """Returns rows with a flag and a frameset in place of the last two columns of CoNLL-U."""
    return [[*row[:8], *row[10:]] for row in conllu(with_flags=True)]


@pytest.mark.parametrize(
    "rows", [conll2009(), conllu(False), conllu(True), first_universal_propositions()]
)
def test_heads_of_arguments_are_read_as_arguments_of_one_word(
    tmp_path: Path, rows: list[list[str]]
) -> None:
    sentence = sentence_in(tmp_path / "f.conll", rows)
    assert sentence.words == WORDS
    (predicate,) = sentence.predicates
    assert (predicate.word_index, predicate.lemma, predicate.arguments) == (1, "scare", EXPECTED)


@pytest.mark.parametrize("rows", [conll2009(), conllu(False)])
def test_a_sentence_without_a_predicate_has_no_arguments(
    tmp_path: Path, rows: list[list[str]]
) -> None:
    for row in rows:
        row[-2:] = ["_", "_"]
        row[:] = ["_" if column == "Y" else column for column in row]
    assert sentence_in(tmp_path / "f.conll", rows).predicates == []


@pytest.mark.parametrize("rows", [conll2009(), conllu(False)])
def test_arguments_without_a_predicate_are_an_error_naming_the_line(
    tmp_path: Path, rows: list[list[str]]
) -> None:
    for row in rows:
        row[-2] = "_"
        row[:] = ["_" if column == "Y" else column for column in row]
    with pytest.raises(ConfigurationError, match=r"line 1: .* 0 predicates, but 1 columns"):
        sentence_in(tmp_path / "f.conll", rows)


@pytest.mark.parametrize("with_roles", [conllu(False), first_universal_propositions()])
def test_sentences_without_predicates_may_have_only_the_columns_of_conllu(
    tmp_path: Path, with_roles: list[list[str]]
) -> None:
    without_roles = [row[:10] for row in conllu(False)]
    contraction = ["3-4", "bigcats", *["_"] * 8]
    sentences = [without_roles, [*with_roles[:2], contraction, *with_roles[2:]], without_roles]
    texts = []
    for rows in sentences:
        texts.append("# text\n" + "".join("\t".join(row) + "\n" for row in rows))
    examples, _ = read("srl", tmp_path / "f.conllu", "\n".join(texts))
    predicates = [sentence_of(example.words).predicates for example in examples]
    assert [len(found) for found in predicates] == [0, 1, 0]
    assert predicates[1][0].arguments == EXPECTED


def test_several_predicates_of_the_first_universal_propositions_have_a_column_each(
    tmp_path: Path,
) -> None:
    rows = first_universal_propositions()
    rows[3][8:] = ["Y", "cat.01", "A1"]
    second_column = ["_", "A0", "A2", "_"]
    rows = [[*row, label] for row, label in zip(rows, second_column, strict=True)]
    first, second = sentence_in(tmp_path / "f.conllu", rows).predicates
    assert (first.word_index, first.lemma, first.arguments) == (1, "scare", EXPECTED)
    expected = [Span(1, 2, "A0"), Span(2, 3, "A2"), Span(3, 4, "V")]
    assert (second.word_index, second.lemma, second.arguments) == (3, "cat", expected)


def test_too_few_columns_in_a_later_sentence_are_an_error_naming_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="line 6: expected at least 10 columns, got 1"):
        sentence_in(tmp_path / "f.conllu", [*conllu(False), [""], ["5"]])


def test_a_missing_column_of_arguments_is_an_error_naming_the_line(tmp_path: Path) -> None:
    rows = conll2009()
    rows[3][13] = "cat.01"
    with pytest.raises(ConfigurationError, match=r"line 1: .* 2 predicates, but 1 columns"):
        sentence_in(tmp_path / "f.conll", rows)


@pytest.mark.parametrize("number", ["1-2", "0.1"])
def test_a_file_may_begin_with_a_contraction_or_an_empty_node(tmp_path: Path, number: str) -> None:
    rows = [[number, "Dogs scare", *["_"] * 10], *conllu(False)]
    sentence = sentence_in(tmp_path / "f.conllu", rows)
    assert sentence.words == WORDS and len(sentence.predicates) == 1


def test_a_document_of_conll2012_may_be_called_1(tmp_path: Path) -> None:
    fields = [["1", "0", str(n), WORDS[n], "X", "*", "-", "-", "-", "-", "*"] for n in range(4)]
    brackets = ["(A0*)", "(V*)", "(A1*", "*)"]
    rows = [[*fields[n], brackets[n], "-"] for n in range(4)]
    sentence = sentence_in(tmp_path / "f", [["#begin document (1);"], *rows, ["#end document"]])
    assert sentence.words == WORDS and len(sentence.predicates) == 1
    with pytest.raises(ConfigurationError, match="line 2: expected word 2 of a sentence, got 1"):
        sentence_in(tmp_path / "f", rows)


def test_sentences_without_a_blank_line_between_them_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"line 5: expected word 5 .*, got 1; a blank"):
        sentence_in(tmp_path / "f", conllu(False) + conllu(False))


@pytest.mark.parametrize("second_column", [ARGUMENTS, ["_"] * 4])
def test_conllu_with_many_predicates_is_not_read_as_conll2009(
    tmp_path: Path, second_column: list[str]
) -> None:
    rows = [
        [*fields[:10], f"{fields[1]}.01", "_", label, "A1", "_"]
        for fields, label in zip(conllu(False), second_column, strict=True)
    ]
    lemmas = [predicate.lemma for predicate in sentence_in(tmp_path / "f", rows).predicates]
    assert lemmas == WORDS


def test_a_predicate_labelled_v_is_not_reported_as_its_own_argument(tmp_path: Path) -> None:
    rows = conllu(False)
    rows[1][-1] = "V"
    content = "\n".join("\t".join(row) for row in rows)
    (example,), report = read("srl", tmp_path / "f", content)
    assert sentence_of(example.words).predicates[0].arguments == EXPECTED
    assert not any("left out" in finding for finding in report.findings)


@pytest.mark.parametrize("between", [" ", "\t", "   "])
@pytest.mark.parametrize("annotation", [[], ["NNS"], ["NNS", "(NP*)", "*", "(S1(S*", "*", "-"]])
def test_brackets_of_conll2005_are_read_beside_their_words(
    tmp_path: Path, annotation: list[str], between: str
) -> None:
    brackets = ["(A0*)", "(V*)", "(A1*", "*)"]
    lemmas = ["-", "scare", "-", "-"]
    rows = []
    for word, lemma, bracket in zip(WORDS, lemmas, brackets, strict=True):
        rows.append([word, *annotation, lemma, bracket])
    (predicate,) = sentence_in(tmp_path / "f.txt", rows, between).predicates
    assert (predicate.word_index, predicate.lemma) == (1, "scare")
    assert predicate.arguments == [Span(0, 1, "A0"), Span(1, 2, "V"), Span(2, 4, "A1")]


def test_an_error_of_conll2005_names_the_column_of_the_file(tmp_path: Path) -> None:
    rows = [["Dogs", "NNS", "-", "(A0*)"], ["scare", "VBP", "scare", "(V*"]]
    with pytest.raises(ConfigurationError, match=r"line 2: column 4: '\(V\*' is never closed"):
        sentence_in(tmp_path / "f.txt", rows, " ")


def test_a_sentence_of_conll2005_without_lemmas_is_an_error(tmp_path: Path) -> None:
    rows = [["Dogs", "NNS", "-", "(A0*)"], ["scare", "VBP", "scare", "(V*)"], [""], ["Yes", "UH"]]
    with pytest.raises(ConfigurationError, match=r"line 4: expected the lemmas .* in column 3"):
        sentence_in(tmp_path / "f.txt", rows, " ")


def test_a_word_may_be_a_number_sign_in_conll2005(tmp_path: Path) -> None:
    rows = [["Dogs", "-", "(A0*)"], ["cost", "cost", "(V*)"], ["#", "-", "(A1*"], ["5", "-", "*)"]]
    sentence = sentence_in(tmp_path / "f.txt", rows, " ")
    assert sentence.words == ["Dogs", "cost", "#", "5"]


def test_propositions_without_words_are_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="got propositions alone; `paste words props`"):
        read("srl", tmp_path / "f.props", "- (A0*)\nscare (V*)\n")
