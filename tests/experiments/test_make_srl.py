"""The SRL data set is what its program writes and has the properties that its README claims."""

import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
from nltk.tree import Tree

from tests.conftest import REPOSITORY

DATA = REPOSITORY / "experiments" / "data"
ROLE = re.compile(r"([RC]-)?ARG([0-4]|M-(CAU|DIR|LOC|MNR|MOD|NEG|PRP|TMP))")


class Span(NamedTuple):
    label: str
    start: int
    end: int


class Sentence(NamedTuple):
    rows: list[list[str]]
    frames: list[list[Span]]  # a list for each column of roles

    @property
    def words(self) -> list[str]:
        return [row[3] for row in self.rows]

    @property
    def predicates(self) -> list[int]:
        return [place for place, row in enumerate(self.rows) if row[6] != "-"]


def spans(column: list[str]) -> Iterator[Span]:
    """The brackets of a column, which must not hold one another."""
    label, start = "", 0
    for place, cell in enumerate(column):
        bracket = re.fullmatch(r"(?:\(([^()*]+))?\*(\)?)", cell)
        assert bracket
        if bracket[1]:
            assert not label
            label, start = bracket[1], place
        if bracket[2]:
            assert label
            yield Span(label, start, place + 1)
            label = ""
    assert not label


def read(part: str) -> list[Sentence]:
    text = (DATA / "srl" / f"{part}.gold_conll").read_text(encoding="utf-8")
    sentences = []
    for block in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip().split("\n\n"):
        rows = [line.split(" ") for line in block.split("\n")]
        columns = zip(*(row[11:-1] for row in rows), strict=True)
        sentences.append(Sentence(rows, [list(spans(list(column))) for column in columns]))
    return sentences


TRAIN, DEV = read("train"), read("dev")


def roles(sentences: list[Sentence]) -> Iterator[tuple[Sentence, int, Span]]:
    """Each argument with its sentence and the place of its predicate."""
    for sentence in sentences:
        for place, frame in zip(sentence.predicates, sentence.frames, strict=True):
            for span in frame:
                if span.label != "V":
                    yield sentence, place, span


def test_no_sentence_occurs_twice() -> None:
    texts = [" ".join(sentence.words) for sentence in TRAIN + DEV]
    assert len(set(texts)) == len(texts) == 530


@pytest.mark.parametrize("part", ["train", "dev"])
def test_documents_have_a_beginning_ten_sentences_and_an_end(part: str) -> None:
    text = (DATA / "srl" / f"{part}.gold_conll").read_text(encoding="utf-8")
    document = r"#begin document \((\d\d)\); part 000\n(.*?)\n\n#end document\n"
    assert not re.sub(document, "", text, flags=re.DOTALL)
    documents = re.findall(document, text, re.DOTALL)
    assert [int(name) for name, _ in documents] == list(range(len(documents)))
    for name, content in documents:
        assert len(content.split("\n\n")) == 10
        assert all(line.startswith(f"{name} 0 ") for line in content.split("\n") if line)


def test_lines_have_the_columns_of_conll_2012() -> None:
    for sentence in TRAIN + DEV:
        parse = " ".join(row[5].replace("*", f"({row[4]} word)") for row in sentence.rows)
        assert Tree.fromstring(parse).label() == "TOP"
        for place, row in enumerate(sentence.rows):
            assert len(row) == 12 + len(sentence.predicates)
            assert row[2] == str(place)
            assert re.fullmatch(r"[A-Z]+|``|''|[,.]", row[4])
            assert (row[6], row[7]) == ("-", "-") or re.fullmatch(r"[a-z]+ \d\d", " ".join(row[6:8]))
            assert row[8:11] == ["-", "-", "*"] and row[-1] == "-"


def test_each_column_is_for_one_predicate() -> None:
    for sentence in TRAIN + DEV:
        for place, frame in zip(sentence.predicates, sentence.frames, strict=True):
            assert [span for span in frame if span.label == "V"] == [Span("V", place, place + 1)]


def test_a_numbered_argument_comes_once_and_before_what_refers_to_it_or_continues_it() -> None:
    found = defaultdict(list)
    for sentence, place, span in roles(TRAIN + DEV):
        assert ROLE.fullmatch(span.label)
        found[" ".join(sentence.words), place].append(span)
    for frame in found.values():
        starts = {span.label: span.start for span in frame if "ARGM" not in span.label}
        assert len(starts) == sum("ARGM" not in span.label for span in frame)
        assert all(
            starts[label[2:]] < start for label, start in starts.items() if label.startswith(("R-", "C-"))
        )


def test_every_role_of_dev_is_in_train() -> None:
    train, dev = ({span.label for _, _, span in roles(part)} for part in (TRAIN, DEV))
    assert dev <= train


def test_sentences_have_3_to_26_words_begin_with_a_capital_and_end_with_a_mark() -> None:
    for sentence in TRAIN + DEV:
        assert 3 <= len(sentence.words) <= 26
        assert re.match(r'(" )?[A-Z]', " ".join(sentence.words))
        assert re.search(r'[.?!]( ")?$', " ".join(sentence.words))


def test_a_and_an_fit_the_next_word() -> None:
    text = " ".join(" ".join(sentence.words) for sentence in TRAIN + DEV)
    assert not re.search(r"\b[Aa] (?!uni)[aeiou]", text)
    assert not re.search(r"\b[Aa]n [^aeiou]", text)


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("by", {"ARG0", "ARGM-LOC", "ARGM-MNR", "ARGM-TMP"}),
        ("in", {"ARG2", "ARGM-LOC", "ARGM-MNR", "ARGM-TMP"}),
        ("for", {"ARG3", "ARGM-TMP"}),
        ("since", {"ARGM-CAU", "ARGM-TMP"}),
        ("with", {"ARG2", "ARGM-MNR"}),
    ],
)
def test_the_role_of_a_phrase_does_not_follow_from_its_first_word(word: str, wanted: set[str]) -> None:
    found = {span.label for sentence, _, span in roles(TRAIN) if sentence.words[span.start] == word}
    assert wanted <= found


@pytest.mark.parametrize("lemma", ["break", "load", "open", "give", "sell", "move"])
def test_the_role_of_a_subject_does_not_follow_from_its_verb(lemma: str) -> None:
    found = {
        span.label
        for sentence, place, span in roles(TRAIN + DEV)
        if sentence.rows[place][6] == lemma and span.end <= place and re.fullmatch(r"ARG\d", span.label)
    }
    assert len(found) >= 2


def test_a_quarter_of_the_predicates_of_dev_have_a_lemma_that_train_lacks() -> None:
    known = {sentence.rows[place][6] for sentence in TRAIN for place in sentence.predicates}
    lemmas = [sentence.rows[place][6] for sentence in DEV for place in sentence.predicates]
    assert 0.15 < sum(lemma not in known for lemma in lemmas) / len(lemmas) < 0.35


def test_every_symbol_of_the_grammar_is_a_list_and_every_list_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(DATA)
    grammar = importlib.import_module("generator").read_grammar(DATA / "srl_grammar")
    lists = {symbol for symbol in grammar if symbol != symbol.upper()}
    text = "\n".join(line for alternatives in grammar.values() for line in alternatives)
    symbols = {re.sub(r" [A-Z]+$", "", symbol) for symbol in re.findall(r"\{([^}]*)\}", text)}
    names = {symbol.partition(".")[0] for symbol in lists}
    assert names == {symbol.partition(".")[0] for symbol in symbols} | {"sentence"}
    assert all({symbol, symbol.partition(".")[0]} & lists for symbol in symbols if "." in symbol)


@pytest.mark.parametrize(
    ("alternative", "arguments"),
    [
        ("[GAP he] {do VBD}", {("walk", "ARG0", "he")}),
        (
            "[GAP he] {want VBD}",
            {("want", "ARG0", "he"), ("want", "ARG1", "to walk"), ("walk", "ARG0", "he")},
        ),
        ("[GAP he] [R-GAP who] {do VBD}", {("walk", "ARG0", "he"), ("walk", "R-ARG0", "who")}),
        ("[GAP he] {do VBD} {late}", {("walk", "ARG0", "he"), ("walk", "ARGM-TMP", "late")}),
        ("he , {ask VBD} .", {("ask", "ARG1", "her"), ("ask", "ARG2", "to walk"), ("walk", "ARG0", "her")}),
    ],
)
def test_what_stands_in_a_gap_has_the_roles_of_all_that_lack_it(
    alternative: str, arguments: set[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DATA)
    make_srl = importlib.import_module("make_srl")
    grammar = {
        "sentence": [alternative],
        "do": ["[ARG0 ~] {walk}"],
        "want": ["[ARG0 ~] {wish} [ARG1 to {do VB}]"],
        "ask": ["{request} [ARG1 [GAP her]] [ARG2 to {do VB}]"],
        "late": ["[ARGM-TMP late]"],
        "walk": ["walk.01 walk walks walking walked walked"],
        "wish": ["want.01 want wants wanting wanted wanted"],
        "request": ["ask.02 ask asks asking asked asked"],
    }
    sentence = make_srl.Sentence()
    make_srl.SentenceSource(grammar, Random(0)).expand(sentence, "sentence")
    words = [word.text for word in sentence.words]
    assert {
        (sentence.words[predicate].lemma, role, " ".join(words[start:end]))
        for predicate, role, start, end in sentence.arguments
    } == arguments
