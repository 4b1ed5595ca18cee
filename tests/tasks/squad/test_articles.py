"""SQuAD 1.1's JSON: its paragraphs and answers, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import read_text_lines
from elmo_plugin.tasks.squad.articles import Answer, Paragraph, parse_squad
from tests.experiments.configs import FIXTURES

FIXTURE = FIXTURES / "squad" / "articles.json"


def squad(context: str = "It rained.", **question: Any) -> dict[str, Any]:
    qas = [
        {
            "id": "q1",
            "question": "What?",
            "answers": [{"text": "rained", "answer_start": 3}],
            **question,
        }
    ]
    return {"data": [{"title": "Rain", "paragraphs": [{"context": context, "qas": qas}]}]}


def read(folder: Path, content: Any) -> list[Paragraph]:
    file = folder / "x.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(parse_squad(read_text_lines(str(file))))


def test_paragraphs_are_read_with_questions_and_all_answers() -> None:
    first, second, third = parse_squad(read_text_lines(str(FIXTURE)))
    assert [len(each.questions) for each in (first, second, third)] == [2, 1, 1]
    assert first.questions[0].answers == [
        Answer("1887", 21),
        Answer("in 1887", 18),
        Answer("1887", 21),
    ]
    assert second.location == f"{FIXTURE}, Ansel, paragraph 2"
    assert second.text == third.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n'data'", "x.json, line 2: not JSON"),
        ("It rained.\nWhat?\n", "x.json, line 1: not JSON"),
        ([3], r'x.json: expected a list as "data", got \[3\]'),
        ({}, 'x.json: expected a list as "data", got null'),
        ({"id": "1", "context": "It.", "question": "What?"}, 'x.json: expected a list as "data"'),
        (
            {"data": [{"title": "T", "paragraphs": [3]}]},
            'T, paragraph 1: expected text as "context"',
        ),
        (
            {"data": [{"paragraphs": 3}]},
            'x.json, article 1: expected a list as "paragraphs", got 3',
        ),
        (squad(" "), "Rain, paragraph 1: the paragraph is blank"),
        (squad(question=" "), "question q1: the question is blank"),
        (squad(answers=[{"text": "rained"}]), 'question q1: expected a number as "answer_start"'),
        (squad(answers=["rained"]), 'question q1: expected text as "text", got "rained"'),
        (squad(answers={"text": ["It"], "answer_start": [0]}), 'expected a list as "answers"'),
        (
            squad(answers=[{"text": "rained", "answer_start": 4}]),
            "question q1: the answer 'rained' is not at its answer_start, 4",
        ),
        (squad(answers=[{"text": "d", "answer_start": -2}]), "'d' is not at its answer_start, -2"),
        (squad(answers=[{"text": "\u00a0", "answer_start": 2}]), "question q1: an answer is blank"),
        (
            squad(is_impossible="false"),
            'question q1: is_impossible is "false", but SQuAD 1.1 has no',
        ),
        (
            squad(is_impossible=True, answers=[]),
            "question q1: is_impossible is true, but SQuAD 1.1",
        ),
        (squad(id=True), 'paragraph 1: expected text or a number as "id", got true'),
    ],
)
def test_malformed_articles_are_refused_naming_file_question_and_importer(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"{message}.*; the file .* `elmo import squad`"):
        read(tmp_path, content)


def test_a_question_without_answers_is_read(tmp_path: Path) -> None:
    content = squad()
    del content["data"][0]["paragraphs"][0]["qas"][0]["answers"]
    assert read(tmp_path, content)[0].questions[0].answers == []


def test_two_questions_with_the_same_id_are_refused(tmp_path: Path) -> None:
    content = squad()
    content["data"] *= 2
    with pytest.raises(
        ConfigurationError, match="Rain, paragraph 1, question q1: an earlier question has"
    ):
        read(tmp_path, content)


@pytest.mark.parametrize("identifiers", [(17, 18), ("17", 18)])
def test_ids_may_be_numbers(tmp_path: Path, identifiers: tuple[Any, Any]) -> None:
    questions = [squad(id=identifier)["data"][0] for identifier in identifiers]
    paragraphs = read(tmp_path, {"data": questions})
    assert tuple(paragraph.questions[0].id for paragraph in paragraphs) == identifiers
    with pytest.raises(
        ConfigurationError, match="question 17: an earlier question has the same id"
    ):
        read(tmp_path, {"data": [squad(id="17")["data"][0], squad(id=17)["data"][0]]})


def test_byte_order_marks_count_in_answer_offsets(tmp_path: Path) -> None:
    answers = [{"text": "a", "answer_start": 3}]
    (paragraph,) = read(tmp_path, squad("\ufeffa a", answers=answers))
    assert paragraph.text[paragraph.questions[0].answers[0].start :] == "a"
