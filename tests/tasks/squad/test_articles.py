"""SQuAD's JSON: its paragraphs and answers, and what is refused."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.squad import Answer, read_squad

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad" / "articles.json"


def squad(context: str = "It rained.", **question: Any) -> dict[str, Any]:
    qas = [{"id": "q1", "question": "What?", "answers": [{"text": "rained", "answer_start": 3}], **question}]
    return {"data": [{"title": "Rain", "paragraphs": [{"context": context, "qas": qas}]}]}


def read(folder: Path, content: Any, **options: bool) -> Any:
    file = folder / "x.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(read_squad(file, **options))


def test_paragraphs_have_their_questions_with_all_answers() -> None:
    first, second, third = read_squad(FIXTURE)
    assert [len(each.questions) for each in (first, second, third)] == [2, 1, 1]
    assert first.questions[0].answers == [Answer("1887", 21), Answer("in 1887", 18), Answer("1887", 21)]
    assert second.location == f"{FIXTURE}, Ansel, paragraph 2"
    assert second.text == third.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n'data'", "x.json, line 2: not JSON"),
        ([], r"x.json: expected a JSON object, got \[\]"),
        ({}, 'x.json: expected a list as "data", got null'),
        ({"data": [{"title": "Rain"}]}, 'Rain: expected a list as "paragraphs", got null'),
        (
            {"data": [{"title": "Rain", "paragraphs": [3]}]},
            "Rain, paragraph 1: expected a JSON object, got 3",
        ),
        (squad(" "), "Rain, paragraph 1: the paragraph is blank"),
        (squad(question=" "), "question q1: the question is blank"),
        (squad(answers=[{"text": "rained"}]), 'question q1: expected a number as "answer_start"'),
        (squad(answers=[{"text": "snowed", "answer_start": 3}]), "q1: .* it is nowhere in the paragraph"),
        (
            squad(answers=[{"text": "rained", "answer_start": 4}]),
            "'rained' is not at .* 4: .* 'ained.'; repair",
        ),
        (squad(is_impossible=True, answers=[]), "question q1: SQuAD 2.0's unanswerable questions"),
    ],
)
def test_what_is_malformed_names_the_file_and_the_question(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("start", "unit"), [(len("🌧 It ".encode("utf-16-le")) // 2, "UTF-16 units"), (8, "UTF-8 bytes")]
)
def test_offsets_in_another_unit_are_named_and_repaired(tmp_path: Path, start: int, unit: str) -> None:
    content = squad("🌧 It rained.", answers=[{"text": "rained", "answer_start": start}])
    with pytest.raises(ConfigurationError, match=f"question q1: .* seems to count {unit}"):
        read(tmp_path, content)
    (paragraph,) = read(tmp_path, content, repair_offsets=True)
    assert paragraph.questions[0].answers == [Answer("rained", 5)]


def test_a_repair_takes_the_nearest_place_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = squad("a b a b a", answers=[{"text": "a", "answer_start": 5}])
    with caplog.at_level(logging.INFO):
        (paragraph,) = read(tmp_path, content, repair_offsets=True)
    assert paragraph.questions[0].answers == [Answer("a", 4)]
    assert "repaired the answer_start of 1 answers" in caplog.text


def test_unanswerable_questions_may_be_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        (paragraph,) = read(tmp_path, squad(is_impossible=True, answers=[]), skip_unanswerable=True)
    assert paragraph.questions == []
    assert "skipped 1 questions without an answer" in caplog.text


def test_a_question_may_have_no_answers(tmp_path: Path) -> None:
    content = squad()
    del content["data"][0]["paragraphs"][0]["qas"][0]["answers"]
    assert read(tmp_path, content)[0].questions[0].answers == []


def test_two_questions_with_one_id_are_refused(tmp_path: Path) -> None:
    content = squad()
    content["data"] *= 2
    with pytest.raises(ConfigurationError, match="Rain, paragraph 1, question q1: an earlier question has"):
        read(tmp_path, content)
