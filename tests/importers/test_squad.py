"""Questions about passages in the forms of public data sets."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.importers.squad import read_scored_squad
from elmo_plugin.tasks.dataset_reader import read_text_lines
from elmo_plugin.tasks.squad.articles import Answer, Question, parse_squad
from tests.experiments.configs import FIXTURES
from tests.importers.imported import import_file

FORMS = sorted((FIXTURES / "squad" / "formats").iterdir())


def imported(folder: Path, content: Any, name: str = "x.json", **options: Any) -> Any:
    """The questions of the file that is written, and what is printed."""
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    written, lines = import_file("squad", file, **options)
    paragraphs = parse_squad(read_text_lines(str(written), keep_marks=True))
    questions = [question for paragraph in paragraphs for question in paragraph.questions]
    return questions, "\n".join(lines)


def record(context: str = "It rained.", **fields: Any) -> dict[str, Any]:
    answers = {"text": ["rained"], "answer_start": [3]}
    return {"id": "q1", "context": context, "question": "What?", "answers": answers, **fields}


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.name)
@pytest.mark.parametrize("end_of_line", ["\n", "\r\n"])
def test_public_forms_of_a_data_set_are_read_alike(
    file: Path, end_of_line: str, tmp_path: Path
) -> None:
    text = file.read_text("utf-8").replace("\n", end_of_line)
    (question,), _ = imported(tmp_path, text, file.name)
    assert question[:2] == ("7", "What?") and set(question.answers) == {Answer("rained", 3)}


def test_all_detected_answers_of_mrqa_are_read(tmp_path: Path) -> None:
    context = "The mill burnt in 1911. It opened again in 1911 too."
    detected = [{"text": "1911", "char_spans": [[18, 21], [43, 46]], "token_spans": [[4, 4]]}]
    question = {"qid": "a", "question": "When?", "answers": ["1911"], "detected_answers": detected}
    lines = [{"header": {"dataset": "X"}}, {"id": "", "context": context, "qas": [question]}]
    (found,), said = imported(tmp_path, "\n".join(map(json.dumps, lines)), "x.jsonl")
    assert found == Question("a", "When?", [Answer("1911", 18), Answer("1911", 43)])
    assert "MRQA" in said


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"context": " "}, "about a blank passage"),
        ({"context": 3}, 'without a "context"'),
        ({"question": "\ufeff"}, "that are blank"),
        ({"question": None}, 'without a "question"'),
        ({"id": True}, 'with a malformed "id"'),
        ({"id": "first"}, "with the id of an earlier one"),
        ({"is_impossible": True}, "that their passage does not answer (is_impossible)"),
        ({"is_impossible": "maybe"}, 'with a malformed "is_impossible"'),
        ({"answers": 3}, 'with malformed "answers"'),
        ({"answers": [3]}, 'with malformed "answers"'),
        ({"answers": {"text": ["It"], "answer_start": []}}, 'another number of "answer_start"'),
        ({"answers": [{"text": "It", "answer_start": "x"}]}, 'with a malformed "answer_start"'),
        ({"answers": [{"text": "\u00a0", "answer_start": 2}]}, "with a blank answer"),
        ({"answers": ["snowed"]}, "with an answer that is not in its passage"),
        ({"answers": [{"text": "It", "answer_start": 3}]}, "that is not at its answer_start"),
        ({"context": "It is. It is.", "answers": ["It"]}, "in its passage several times"),
        ({"context": "aaa", "answers": ["aa"]}, "in its passage several times"),
        ({"answers": ["rain"]}, "that is inside of another word"),
        ({"answers": ["ained"]}, "that is inside of another word"),
        ({"answers": []}, "without an answer"),
        ({"answers": {"text": [], "answer_start": []}}, "without an answer"),
    ],
)
def test_unusable_questions_are_skipped_and_reported(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    records = [record(id="first"), record() | fields, record(id="last")]
    questions, said = imported(tmp_path, "\n".join(map(json.dumps, records)), "x.jsonl")
    assert [question.id for question in questions] == ["first", "last"]
    assert len([line for line in said.split("\n") if "left out 1 questions" in line]) == 1
    assert reason in said


@pytest.mark.parametrize("detected", [3, [3], [{"text": "rained", "char_spans": [3, 8]}], [{}]])
def test_malformed_detected_answers_are_skipped(tmp_path: Path, detected: Any) -> None:
    questions = [
        {"qid": "a", "question": "What?", "answers": ["rained"], "detected_answers": detected},
        {"qid": "b", "question": "What?", "answers": ["It"], "detected_answers": []},
    ]
    found, _ = imported(tmp_path, {"context": "It rained.", "qas": questions})
    assert [question.id for question in found][-1] == "b"
    assert all(
        answer in (Answer("rained", 3), Answer("It", 0)) for q in found for answer in q.answers
    )


@pytest.mark.parametrize("flag", [False, None, "false", "False", "", 0])
def test_a_question_with_an_answer_is_kept_whatever_its_impossible_flag(
    tmp_path: Path, flag: Any
) -> None:
    content = {"data": [{"paragraphs": [{"context": "It rained.", "qas": [record()]}]}]}
    content["data"][0]["paragraphs"][0]["qas"][0]["is_impossible"] = flag  # type: ignore[index]
    questions, _ = imported(tmp_path, content)
    assert len(questions) == 1


def test_an_answer_without_an_offset_is_found_if_unambiguous(tmp_path: Path) -> None:
    (question,), said = imported(tmp_path, record("It rained; rainy.", answers=["rained"]))
    assert question.answers == [Answer("rained", 3)]
    assert "answers without answer_start are words that their passage has only once" in said
    (question,), _ = imported(tmp_path, record("店在河边。", answers=["河边"]), "y.json")
    assert question.answers == [Answer("河边", 2)]


def test_answers_may_differ_from_the_passage_in_white_space(tmp_path: Path) -> None:
    places = {"It rained": 0, "\ufeff\u00a0rained ": 1, "\ufeffrained": 3}
    answers = [{"text": text, "answer_start": start} for text, start in places.items()]
    (question,), _ = imported(tmp_path, record("It\u00a0rained.", answers=answers))
    assert question.answers == [
        Answer("It\u00a0rained", 0),
        Answer("rained", 3),
        Answer("rained", 3),
    ]


def test_a_file_without_any_answers_keeps_its_questions(tmp_path: Path) -> None:
    questions, said = imported(tmp_path, record(answers=[]))
    assert [question.answers for question in questions] == [[]]
    assert "no answers to learn or to score" in said


def test_rows_without_ids_are_named_by_line(tmp_path: Path) -> None:
    (question,), said = imported(tmp_path, "context,question,answer\na b,c,b\n", "x.csv")
    assert question == Question("line 2", "c", [Answer("b", 2)])
    assert "questions without an id have their places as ids" in said


@pytest.mark.parametrize("identifier", [None, ""])
def test_no_question_without_an_id_is_taken_for_a_repetition(
    tmp_path: Path, identifier: Any
) -> None:
    paragraph = {"context": "It rained.", "qas": [record(id=identifier), record(id=identifier)]}
    article = {"title": "Wikipedia", "paragraphs": [paragraph, paragraph]}
    questions, _ = imported(tmp_path, {"data": [article, article]})
    assert len({question.id for question in questions}) == 8
    detected = {"question": "What?", "detected_answers": [{"text": "rained"}], "qid": identifier}
    questions, _ = imported(tmp_path, {"context": "It rained.", "qas": [detected, detected]}, "y")
    assert len({question.id for question in questions}) == 2


def test_the_id_of_a_passage_is_not_the_id_of_its_questions(tmp_path: Path) -> None:
    answers = ["rained"]
    passage = {"id": "p", "context": "It rained."}
    qas = [{"qid": name, "question": "What?", "answers": answers} for name in "ab"]
    questions, _ = imported(tmp_path, passage | {"qas": qas})
    assert [question.id for question in questions] == ["a", "b"]
    qas = [{"question": "What?", "answers": answers}] * 2
    questions, _ = imported(tmp_path, passage | {"qas": qas}, "y.json")
    assert [question.id for question in questions] == ["line 1, question 1", "line 1, question 2"]
    questions, _ = imported(tmp_path, passage | {"qas": qas[:1]}, "z.json")
    assert [question.id for question in questions] == ["p"], "its only question has no other"


def test_columns_with_other_names_require_the_column_option(tmp_path: Path) -> None:
    text = "Text;Frage;Antwort\nEs regnete.;Was?;regnete\n"
    with pytest.raises(
        ConfigurationError, match=r"expected a column 'context', .* --column context="
    ):
        imported(tmp_path, text, "x.csv")
    columns = {"context": "Text", "question": "1", "answer": "Antwort"}
    (question,), _ = imported(tmp_path, text, "y.csv", columns=columns)
    assert question[1:] == ("Was?", [Answer("regnete", 3)])
    with pytest.raises(
        ConfigurationError,
        match=r"z\.csv, line 1: --column context: expected one of 'Text', .* got 'Satz'",
    ):
        imported(tmp_path, text, "z.csv", columns={**columns, "context": "Satz"})


def test_paragraphs_of_an_article_stay_together(tmp_path: Path) -> None:
    qas = [record(id="a"), record(id="b")]
    paragraphs = [{"context": "It rained.", "qas": [item]} for item in qas]
    content = {"data": [{"title": "Rain", "paragraphs": [*paragraphs, {"context": "It."}, 3]}]}
    questions, said = imported(tmp_path, content)
    assert [question.id for question in questions] == ["a", "b"]
    assert (
        'about a paragraph without "qas": item 1 (Rain), paragraph 3, item 1 (Rain), paragraph 4'
        in said
    )


@pytest.mark.parametrize(
    "answers",
    [
        {"text": ["1911"], "start_byte": [25], "limit_byte": [29]},
        [{"text": "1911", "start_byte": 25}],
        [{"text": "1911", "answer_start": 24}],
    ],
)
def test_places_in_bytes_are_read_as_tydi_counts_them(tmp_path: Path, answers: Any) -> None:
    (question,), _ = imported(tmp_path, record("Äpfel 1911: The mill of 1911.", answers=answers))
    assert question.answers == [Answer("1911", 24)]


def test_all_places_of_mrqa_are_read_from_rows_of_hugging_face(tmp_path: Path) -> None:
    context = "The mill burnt in 1911. It opened again in 1911 too."
    detected = {"text": ["1911"], "char_spans": [{"start": [18, 43], "end": [21, 46]}]}
    row = record(context, answers=["1911"], detected_answers=detected)
    (question,), _ = imported(tmp_path, row)
    assert question.answers == [Answer("1911", 18), Answer("1911", 43)]


@pytest.mark.parametrize(
    "cell",
    [
        "[{'text': 'a [1]', 'answer_start': 3}]",
        "{'text': array(['a [1]'], dtype=object), 'answer_start': array([3], dtype=int32)}",
    ],
)
def test_answers_are_read_from_the_cells_of_a_table(tmp_path: Path, cell: str) -> None:
    content = f"title\tcontext\tquestion\tanswers\nT\tIs a [1] a [1]?\tWhat?\t{cell}\n"
    (question,), _ = imported(tmp_path, content, "x.tsv")
    assert question.answers == [Answer("a [1]", 3)]


def test_a_place_without_the_text_of_an_answer_is_reported(tmp_path: Path) -> None:
    rows = [record(), {"context": "It rained.", "question": "What?", "start": 3, "end": 9}]
    _, said = imported(tmp_path, "\n".join(map(json.dumps, rows)), "x.jsonl")
    assert "with the place of an answer, but without its text: line 2" in said


@pytest.mark.parametrize(
    "answers",
    [
        ["1911"],
        "1911",
        [{"text": "1911"}],
        {"text": "1911", "answer_start": None},
        {"text": ["1911"], "answer_start": [None]},
    ],
)
def test_scoring_needs_only_the_texts_of_answers(tmp_path: Path, answers: Any) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record("1911, 1911", answers=answers)))
    (paragraph,) = read_scored_squad(str(path))
    assert [answer.text for answer in paragraph.questions[0].answers] == ["1911"]


def test_scored_answers_may_differ_from_the_passage_in_white_space(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record("Then it\u00a0rained.", answers=["it rained"])))
    (paragraph,) = read_scored_squad(str(path))
    assert paragraph.questions[0].answers == [Answer("it\u00a0rained", 5)]


def test_a_question_that_cannot_be_scored_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record(answers=["snowed"])))
    with pytest.raises(
        ConfigurationError, match=r"x.jsonl, line 1: expected no questions with an answer"
    ):
        list(read_scored_squad(str(path)))


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": ["rained"]},
        {"answer": {"text": "rained", "start": 3, "end": 9}},
        {"answers": ["rained"], "answer_start": [3]},
        {"answers": [{"text": "rained", "start": 3}]},
        {"answers": "rained", "start_char": 3},
    ],
)
def test_answers_are_at_their_beginnings_however_these_are_written(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    line = {"id": "q1", "context": "It rained, it rained.", "question": "What?", **fields}
    if fields == {"answer": ["rained"]}:
        line["context"] = "It rained."
    (question,), _ = imported(tmp_path, json.dumps(line), "x.jsonl")
    assert question.answers == [Answer("rained", 3)]


def test_a_column_that_is_chosen_for_one_role_has_no_other(tmp_path: Path) -> None:
    content = "Text;Frage;Antwort\nEs regnet.;Was?;regnet\n"
    columns = {"context": "Text", "question": "Frage"}
    (question,), said = imported(tmp_path, content, "x.csv", columns=columns)
    assert question.answers == []
    assert "--column answer=NAME" in said
    columns["answer"] = "Antwort"
    (question,), _ = imported(tmp_path, content, "y.csv", columns=columns)
    assert question.answers == [Answer("regnet", 3)]


@pytest.mark.parametrize("other", ["answers", "answer_pivot", "detected_answers", "answer"])
@pytest.mark.parametrize("role", ["answer", "answers"])
def test_the_chosen_answers_are_taken_whatever_other_answers_there_are(
    tmp_path: Path, other: str, role: str
) -> None:
    line = {"context": "It rained.", "question": "What?", other: ["It"], "native": ["rained"]}
    (question,), _ = imported(tmp_path, line, columns={role: "native"})
    assert question.answers == [Answer("rained", 3)]


def test_a_record_without_the_chosen_field_is_named(tmp_path: Path) -> None:
    lines = [record(native="rained"), record()]
    with pytest.raises(ConfigurationError, match=r"x\.jsonl, line 2: --column answer: expected"):
        imported(
            tmp_path,
            "\n".join(map(json.dumps, lines)),
            "x.jsonl",
            columns={"answer": "native"},
        )


def test_an_empty_cell_is_no_answer(tmp_path: Path) -> None:
    header = "context,question,answers,answer\n"
    questions, said = imported(tmp_path, header + "It rained.,What?,,\n", "x.csv")
    assert [question.answers for question in questions] == [[]]
    assert "no answers to learn or to score" in said
    questions, _ = imported(tmp_path, header + "It rained.,What?,,rained\n", "y.csv")
    assert [question.answers for question in questions] == [[Answer("rained", 3)]]


def test_the_names_of_columns_may_follow_blank_rows(tmp_path: Path) -> None:
    content = "\ncontext,question,answer\nIt rained.,What?,rained\n"
    (question,), _ = imported(tmp_path, content, "x.csv")
    assert question == Question("line 3", "What?", [Answer("rained", 3)])


def test_two_columns_of_one_name_cannot_both_have_the_answers(tmp_path: Path) -> None:
    content = "context,question,answer,answer\nIt rained.,What?,rained,It\n"
    with pytest.raises(
        ConfigurationError,
        match=r"x\.csv, line 1: expected one column that is called 'answer' .*, got 2",
    ):
        imported(tmp_path, content, "x.csv")


def test_questions_in_a_list_for_each_column_are_read(tmp_path: Path) -> None:
    columns = {name: [value] for name, value in record().items()}
    (question,), _ = imported(tmp_path, columns)
    assert question == Question("q1", "What?", [Answer("rained", 3)])
