"""The data set for questions is what its program writes and has the properties that its README claims."""

import importlib
import json
import re
from random import Random
from typing import Any

import pytest

from tests.experiments.programs import DATA

YEAR = re.compile(r"\b\d{4}\b")
NUMBER = re.compile(r"\b\d{1,3}(?:,\d{3})*\b(?! [A-Z])")
NAME = re.compile(r"\b(?!The\b|In\b|On\b|At\b|An?\b|It\b)[A-Z][a-z]+(?: (?:and |of )?[A-Z][a-z]+)*")


def read(part: str) -> list[dict[str, Any]]:
    text = (DATA / "squad" / f"{part}.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert content["version"] == "1.1" and set(content) == {"version", "data"}
    return content["data"]


def paragraphs(articles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [paragraph for article in articles for paragraph in article["paragraphs"]]


TRAIN, DEV = paragraphs(read("train")), paragraphs(read("dev"))
ALL = TRAIN + DEV
QUESTIONS = [(paragraph["context"], question) for paragraph in ALL for question in paragraph["qas"]]


def test_there_are_252_and_60_paragraphs_in_articles_of_their_own() -> None:
    for part, length in (("train", 21), ("dev", 5)):
        articles = read(part)
        assert len({article["title"] for article in articles}) == len(articles) == 12
        assert {len(article["paragraphs"]) for article in articles} == {length}


def test_no_paragraph_occurs_twice() -> None:
    assert len({paragraph["context"] for paragraph in ALL}) == len(ALL)


def test_ids_are_unique_and_so_are_the_questions_of_a_paragraph() -> None:
    ids = [question["id"] for _, question in QUESTIONS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[0-9a-f]{24}", identifier) for identifier in ids)
    assert len({(context, question["question"]) for context, question in QUESTIONS}) == len(QUESTIONS)


def test_answers_stand_where_they_are_said_to() -> None:
    for context, question in QUESTIONS:
        for answer in question["answers"]:
            start, text = answer["answer_start"], answer["text"]
            assert text and context[start : start + len(text)] == text
            assert not re.match(r"\w", context[start + len(text) :])
            assert start == 0 or not re.match(r"\w", context[start - 1])
            assert text == text.strip(" ,.;")


def test_only_dev_has_several_answers_to_a_question_none_twice() -> None:
    assert all(len(question["answers"]) == 1 for paragraph in TRAIN for question in paragraph["qas"])
    found = [[answer["text"] for answer in question["answers"]] for p in DEV for question in p["qas"]]
    assert all(1 <= len(set(texts)) == len(texts) <= 3 for texts in found)
    assert sum(len(texts) > 1 for texts in found) / len(found) > 0.5


def test_paragraphs_have_4_to_8_sentences_and_3_to_6_questions() -> None:
    for paragraph in ALL:
        assert 4 <= len(re.findall(r"\.(?= [A-Z\"]|$)", paragraph["context"])) <= 8
        assert 3 <= len(paragraph["qas"]) <= 6


def test_texts_are_written_as_they_should_be() -> None:
    for context, question in QUESTIONS:
        assert re.fullmatch(r"[A-Z][^{}\[\]|]*[^ ]\.", context)
        assert re.fullmatch(r"[A-Z][^{}\[\]|]*[^ ]\?", question["question"])
        for text in (context, question["question"]):
            assert not re.search(r"  | [,.;?]|,,|\.\.", text)
            assert not re.search(r"\b[Aa] (?!uni)[aeiou]", text), text
            assert not re.search(r"\b[Aa]n [^aeiouAEIOU]", text), text


def test_no_number_occurs_twice_in_a_paragraph() -> None:
    for paragraph in ALL:
        numbers = re.findall(r"\d+(?:,\d{3})*", paragraph["context"])
        assert len(set(numbers)) == len(numbers)


def test_the_question_does_not_have_the_answer() -> None:
    for _, question in QUESTIONS:
        assert question["answers"][0]["text"].lower() not in question["question"].lower()


def first_of_its_kind(context: str, question: dict[str, Any]) -> str | None:
    """The first year, number or name that the question lacks, by what kind the answer is of, if of any."""
    answer = question["answers"][0]["text"].removeprefix("the ").removeprefix("The ")
    for pattern in (YEAR, NUMBER, NAME):
        if pattern.match(answer) or (pattern is YEAR and pattern.search(answer)):
            found = [words for words in pattern.findall(context) if words not in question["question"]]
            return next(iter(found), "")
    return None


@pytest.mark.parametrize("part", [TRAIN, DEV], ids=["train", "dev"])
def test_the_first_words_of_the_right_kind_answer_less_than_a_third(part: list[dict[str, Any]]) -> None:
    guesses = [
        (first_of_its_kind(paragraph["context"], question), question["answers"])
        for paragraph in part
        for question in paragraph["qas"]
    ]
    known = [(guess, answers) for guess, answers in guesses if guess is not None]
    right = [
        guess for guess, answers in known if any(guess and guess in answer["text"] for answer in answers)
    ]
    assert len(known) / len(guesses) > 0.6
    assert len(right) / len(known) < 1 / 3


def test_most_questions_have_rivals_to_their_answer() -> None:
    """Most years that answer a question stand beside other years, most names beside other names."""
    for pattern, least in ((YEAR, 0.8), (NAME, 0.99)):
        found = [
            len(set(pattern.findall(context)))
            for context, question in QUESTIONS
            if pattern.fullmatch(question["answers"][0]["text"])
        ]
        assert sum(count > 1 for count in found) / len(found) > least


def grammar_of(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    monkeypatch.syspath_prepend(DATA)
    return importlib.import_module("generator").read_grammar(DATA / "squad_grammar")


def test_no_name_of_a_person_or_a_place_of_dev_is_in_train(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = grammar_of(monkeypatch)
    invented = {
        f"{stem}{ending}"
        for kind in ("person", "town", "river", "island")
        for stem in grammar[f"stem.{kind}"]
        for ending in grammar[f"ending.{kind}"]
    }
    train, dev = ({word for p in part for word in re.findall(r"\w+", p["context"])} for part in (TRAIN, DEV))
    assert len(dev & invented) > 150 and not dev & train & invented


def test_words_and_questions_are_shared() -> None:
    train, dev = (
        {word for p in part for word in re.findall(r"\b[a-z]+\b", p["context"])} for part in (TRAIN, DEV)
    )
    assert 0.02 < len(dev - train) / len(dev) < 0.3


def test_every_symbol_of_the_grammar_is_a_list_and_every_list_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = grammar_of(monkeypatch)
    texts = [text for name, lines in grammar.items() if not name.startswith("ask.") for text in lines]
    symbols = {symbol.split()[0] for text in texts for symbol in re.findall(r"\{([^{}]+)\}", text)}
    symbols = {symbol.removeprefix("A.") for symbol in symbols} - {"A", "B", "year", "number", "count"}
    topics = {name.partition(".")[2] for name in grammar if name.startswith("title.")}
    sciences = {
        f"{name}.{science}"
        for name in ("scholar", "field", "discovery", "site")
        for science in grammar["science"]
    }
    kinds = {"title", "noun", "tell", "ask", "aside"}
    lists = {name for name in grammar if name.partition(".")[0] not in kinds or name == "title"}
    assert symbols | sciences | {f"name.{topic}" for topic in topics} >= lists
    assert lists >= symbols | sciences
    for topic in topics:
        assert {f"noun.{topic}", f"aside.{topic}", f"tell.{topic}.first", f"tell.{topic}.second"} <= set(
            grammar
        )


def test_whatever_a_sentence_tells_can_be_asked_and_no_question_is_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = grammar_of(monkeypatch)
    facts = [name.removeprefix("tell.") for name in grammar if name.startswith("tell.")]
    assert len(facts) == len([name for name in grammar if name.startswith("ask.")]) > 90
    for fact in facts:
        told = [{*re.findall(r"\[(\w+)", text), "A", "B"} for text in grammar[f"tell.{fact}"]]
        wanted = [
            {text.partition(": ")[0], *(symbol.split()[0] for symbol in re.findall(r"\{([^{}]+)\}", text))}
            for text in grammar[f"ask.{fact}"]
        ]
        for slots in told:
            assert sum(symbols <= slots for symbols in wanted) >= 2, fact
        for symbols in wanted:
            assert any(symbols <= slots for slots in told), (fact, symbols)


GRAMMAR = {
    "title.king": ["Kings"],
    "name.king": ["the [?king]"],
    "noun.king": ["king"],
    "cup": ["a [?cup]"],
}


@pytest.mark.parametrize(
    ("told", "asked", "question", "answers"),
    [
        (
            "{A} won [? in [year {year 3 3}]].",
            "year: When did {A} win?",
            "When did the king win?",
            "1803 | in 1803",
        ),
        ("{A} lost [thing {cup}].", "thing: What?", "What?", "a cup | cup"),
        (
            "[thing {cup}] fell [year {year 3 3}].",
            "year: When did {thing} fall?",
            "When did the cup fall?",
            "1803",
        ),
        ("{A} came [? on [date 1 May [year 1803]]].", "date: When?", "When?", "1 May 1803 | on 1 May 1803"),
        ("{A} came [? on [date 1 May [year 1803]]].", "year: When?", "When?", "1803 | 1 May 1803"),
        ("in [year {year 3 3}], {A he} ate.", "A: Who?", "Who?", "The king | king"),
        ("{A} has a [job apple].", "job: What has {A he}?", "What has it?", "apple"),
        (
            "{A} has [n {count 3 3}] and [m {number 2500 2500}].",
            "m: What beside {n}?",
            "What beside three?",
            "2,500",
        ),
    ],
)
def test_an_answer_is_what_the_grammar_says(
    told: str, asked: str, question: str, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DATA)
    make_squad = importlib.import_module("make_squad")
    grammar = GRAMMAR | {
        "tell.king.first": ["{A} is old."],
        "tell.king.crown": [told],
        "ask.king.crown": [asked],
    }
    source = make_squad.ParagraphSource(grammar, Random(0))
    king = make_squad.Subject("king", "the [?king]", "n", 1800)
    paragraph = make_squad.Paragraph("king", "Kings")
    source.tell(paragraph, "tell.king.first", king, king)
    fact = source.tell(paragraph, "tell.king.crown", king, king)
    (found,) = source.ask([fact])
    assert found.text == question
    assert " | ".join(answer.text for answer in found.answers) == answers
    for text, start in found.answers:
        assert paragraph.context[start : start + len(text)] == text
