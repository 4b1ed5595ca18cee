"""SQuAD's JSON: its paragraphs and answers, and what is refused."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.tasks.dataset_reader import Line
from elmo_plugin.tasks.records import Skipped
from elmo_plugin.tasks.squad import Answer, read_squad
from elmo_plugin.tasks.squad.articles import parse_squad
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


def read(folder: Path, content: Any, skip_bad: bool = False, **options: bool) -> Any:
    file = folder / "x.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(read_squad(file, Skipped(skip_bad), **options))


def test_paragraphs_have_their_questions_with_all_answers() -> None:
    first, second, third = read_squad(FIXTURE)
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
        ([3], "x.json, item 1: expected a JSON object, got 3"),
        ({}, 'x.json, line 1: expected text as "context", got null'),
        (
            {"id": "1", "context": "1911, 1911", "question": "When?", "answer": "1911"},
            "the answer '1911' is in the paragraph 2 times: expected \"answer_start\"; skip_bad",
        ),
        (
            {"data": [{"title": "T", "paragraphs": [3]}]},
            "T, paragraph 1: expected a JSON object, got 3",
        ),
        (squad(" "), "Rain, paragraph 1: the paragraph is blank"),
        (squad(question=" "), "question q1: the question is blank"),
        (squad(answers=[{"text": "rained"}]), 'question q1: expected a number as "answer_start"'),
        (
            squad(answers=[{"text": "snowed", "answer_start": 3}]),
            "q1: .* it is nowhere in the paragraph",
        ),
        (
            squad(answers=[{"text": "rained", "answer_start": 4}]),
            "4: .* 'ained.'; it is at 3, and skip_bad",
        ),
        (
            squad(is_impossible="false"),
            'expected true or false as "is_impossible", got "false"; skip_bad',
        ),
        (squad(is_impossible=0), 'q1: expected true or false as "is_impossible", got 0'),
        (
            squad(answers=[{"text": "\u00a0", "answer_start": 2}]),
            "q1: an answer is blank; skip_bad",
        ),
        (
            squad(answers={"text": ["It"], "answer_start": []}),
            'expected an "answer_start" for each "text"',
        ),
        (squad(id=True), 'expected text as "id", got true'),
        ("It rained.\nWhat?\n", "x.json, line 1: not JSON"),
        (squad(is_impossible=True, answers=[]), "question q1: SQuAD 2.0's unanswerable questions"),
    ],
)
def test_what_is_malformed_names_the_file_and_the_question(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, content)


def test_unanswerable_questions_may_be_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        (paragraph,) = read(tmp_path, squad(is_impossible=True, answers=[]), skip_unanswerable=True)
    assert paragraph.questions == []
    assert "skipped questions without an answer (1)" in caplog.text


def test_a_question_may_have_no_answers(tmp_path: Path) -> None:
    content = squad()
    del content["data"][0]["paragraphs"][0]["qas"][0]["answers"]
    assert read(tmp_path, content)[0].questions[0].answers == []


def test_two_questions_with_one_id_are_refused(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    "file", sorted((FIXTURES / "squad" / "formats").iterdir()), ids=lambda file: file.name
)
def test_the_shapes_of_public_data_sets_mean_the_same(file: Path) -> None:
    first, *others = (
        question for paragraph in read_squad(file) for question in paragraph.questions
    )
    assert first[:2] == ("7", "What?") and set(first.answers) == {Answer("rained", 3)}
    assert others in ([], [(2, "What?", [])])


def test_byte_order_marks_count_in_the_places_of_answers(tmp_path: Path) -> None:
    answers = [{"text": "a", "answer_start": 3}]
    content = json.dumps({"id": 1, "context": "\ufeffa a", "question": "What?", "answers": answers})
    for text in (content, f"[{content}]"):
        (paragraph,) = read(tmp_path, text)
        assert paragraph.text[paragraph.questions[0].answers[0].start :] == "a"


def test_answers_may_differ_by_the_kind_of_space_and_by_its_ends(tmp_path: Path) -> None:
    places = {"It rained": 0, "\ufeff\u00a0rained ": 1, "\ufeffrained": 3}
    answers = [{"text": text, "answer_start": start} for text, start in places.items()]
    (paragraph,) = read(tmp_path, squad("It\u00a0rained.", answers=answers))
    assert paragraph.questions[0].answers == [
        Answer("It rained", 0),
        Answer("rained", 3),
        Answer("rained", 3),
    ]


def test_what_cannot_be_used_may_be_left_out_and_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = squad()
    questions = content["data"][0]["paragraphs"][0]["qas"]
    lost = [{"text": "snowed", "answer_start": 3}]
    questions += [questions[0] | {"id": number, "answers": lost} for number in range(11)]
    questions += [questions[0], questions[0] | {"id": "q2", "question": ""}]
    content["data"] += [{"paragraphs": [{"context": " ", "qas": []}, {"context": "It rained."}]}]
    with caplog.at_level(logging.INFO):
        (paragraph,) = read(tmp_path, content, skip_bad=True)
    assert [question.id for question in paragraph.questions] == ["q1"]
    place = f"{tmp_path / 'x.json'}, article 2, paragraph"
    assert [message.split(": ", 1)[1] for message in caplog.messages] == [
        "skipped questions with an answer that is not in the paragraph (11): 0, 1, 2, 3, 4, 5, "
        "6, 7, 8, 9, …",
        "skipped questions with the id of an earlier one (1): q1",
        "skipped questions that are blank (1): q2",
        f"skipped questions about a blank paragraph (1): {place} 1",
        f'skipped questions with a malformed "qas" (1): {place} 2',
    ]


def test_rows_without_ids_have_their_lines() -> None:
    lines = [
        Line(text, "x.csv", n)
        for n, text in enumerate(["context,question,answer\n", "a b,c,b\n"], 1)
    ]
    (paragraph,) = parse_squad(lines, Skipped())
    assert [question.id for question in paragraph.questions] == ["line 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,passages,question\n1,It rained.,What?\n",
            'line 2: expected text as "context", got null',
        ),
        (
            "context,question,answer\nrain rain,What?,rain\n",
            "line 2.*: the answer 'rain' is in the paragraph 2 times",
        ),
        (
            "context,question,answer,start\nIt.,What?,It,x\n",
            'expected a number as "answer_start", got "x"',
        ),
        (
            "context,question,answer,start\nIt rained.,What?,rained,0\n",
            "is not at its answer_start, 0",
        ),
    ],
)
def test_a_table_of_questions_that_cannot_be_used_is_an_error(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        (tmp_path / "x.csv").write_text(text)
        list(read_squad(tmp_path / "x.csv"))
