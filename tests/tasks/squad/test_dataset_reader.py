"""Questions as instances: words, places of characters, and what is left out or refused."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token, WhitespaceTokenizer

from elmo_plugin.tasks.squad import Answer, SquadReader
from elmo_plugin.tasks.tokenizers import text_as_typed

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad" / "articles.json"


def reader(**options: Any) -> SquadReader:
    return SquadReader({"tokens": SingleIdTokenIndexer()}, **options)


def spans(instance: Instance) -> list[tuple[int, int]]:
    return [(field.span_start, field.span_end) for field in instance["answers"]]


def file_with(folder: Path, context: str, answers: list[dict[str, Any]]) -> Path:
    qas = [{"id": "q1", "question": "What?", "answers": answers}]
    content = {"data": [{"title": "T", "paragraphs": [{"context": context, "qas": qas}]}]}
    (folder / "x.json").write_text(json.dumps(content))
    return folder / "x.json"


def test_byte_order_marks_of_a_file_count_in_the_places_of_answers(tmp_path: Path) -> None:
    context = "\ufeffIt \ufeffrained."
    file = file_with(tmp_path, context, [{"text": "rained", "answer_start": 5}])
    file.write_text(file.read_text().replace("\\ufeff", "\ufeff"), "utf-8")
    assert "\ufeff" in file.read_text("utf-8")
    (instance,) = reader().read(file)
    assert [instance["paragraph"][first].text for first, _ in spans(instance)] == ["rained"]


class LowercaseTokenizer(WhitespaceTokenizer):
    def tokenize(self, text: str) -> list[Token]:
        return super().tokenize(text.lower())


def test_a_tokenizer_without_word_offsets_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="squad_v1: the tokenizer does not say where words are"
    ):
        list(reader(tokenizer=LowercaseTokenizer()).read(FIXTURE))
    assert reader(tokenizer=WhitespaceTokenizer()).tokenize(" Ansel  rose.").places == [
        (1, 6),
        (8, 13),
    ]


def test_each_question_is_an_instance_with_its_answers_as_word_spans() -> None:
    instances = list(reader().read(FIXTURE))
    words = [token.text for token in instances[0]["paragraph"]]
    assert words[:6] == ["Ansel", "was", "founded", "in", "1887", "by"]
    assert [token.text for token in instances[0]["question"]] == [
        "When",
        "was",
        "Ansel",
        "founded",
        "?",
    ]
    assert [spans(instance) for instance in instances] == [
        [(4, 4), (3, 4)],
        [(6, 7), (7, 7)],
        [(9, 9), (8, 9)],
        [(4, 4)],
    ]


def test_a_paragraph_that_cannot_be_split_into_words_is_named(tmp_path: Path) -> None:
    file = file_with(tmp_path, "(" * 6000, [])
    with pytest.raises(ConfigurationError, match=f"{file}, T, paragraph 1: spaCy's rules read"):
        list(reader().read(file))


def test_word_offsets_match_the_text() -> None:
    text = " Café\u2014\u00a0Ansel's\n\n\U0001f327 river."
    paragraph = reader().tokenize(text)
    for token, (start, end) in zip(paragraph.tokens, paragraph.places, strict=True):
        assert text[start:end] == text_as_typed(token)
    assert text[slice(*paragraph.locate(0, len(paragraph.tokens) - 1))] == text.strip()


def test_an_answer_inside_of_words_becomes_the_words_that_cover_it(tmp_path: Path) -> None:
    file = file_with(tmp_path, "The 1880s began.", [{"text": "1880", "answer_start": 4}])
    (instance,) = reader().read(file)
    assert spans(instance) == [(1, 1)]
    assert instance["metadata"].metadata.question.answers == [Answer("1880", 4)]


def test_paragraphs_beyond_the_limit_are_skipped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        instances = list(reader(max_paragraph_words=15).read(FIXTURE))
    assert [instance["metadata"].metadata.question.id for instance in instances] == ["a3", "b1"]
    assert "left out 2 questions about paragraphs of more than 15 words: a1, a2" in caplog.text


def test_a_question_without_an_answer_is_an_error_in_training_only(tmp_path: Path) -> None:
    file = file_with(tmp_path, "It rained.", [])
    (instance,) = reader().read(file)
    assert "answers" not in instance.fields
    with pytest.raises(
        ConfigurationError, match=r"x.json, T, paragraph 1, question q1: answer missing"
    ):
        list(reader(answers_required=True).read(file))


@pytest.mark.parametrize("numbers", [(1, 0), (0, 1)])
def test_all_questions_of_a_file_have_answers_or_none(
    numbers: tuple[int, int], tmp_path: Path
) -> None:
    answer = {"text": "rained", "answer_start": 3}
    qas = [{"id": f"q{n}", "question": "What?", "answers": [answer] * n} for n in numbers]
    content = {"data": [{"title": "T", "paragraphs": [{"context": "It rained.", "qas": qas}]}]}
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match=r"question q\d: .*(answer missing|got an answer)"):
        list(reader().read(tmp_path / "x.json"))


def test_answers_in_text_without_spaces_are_character_spans(tmp_path: Path) -> None:
    (instance,) = reader().read(
        file_with(tmp_path, "店在河边。", [{"text": "河边", "answer_start": 2}])
    )
    assert spans(instance) == [(2, 3)]
    file = file_with(tmp_path, "ร้านอยู่ริมน้ำ", [])
    with pytest.raises(
        ConfigurationError, match=f"{file}, T, paragraph 1: Thai is .*: set tokenizer"
    ):
        list(reader().read(file))


def test_a_question_that_cannot_be_split_into_words_is_named(tmp_path: Path) -> None:
    file = file_with(tmp_path, "It rained.", [])
    file.write_text(file.read_text().replace("What?", "(" * 6000))
    with pytest.raises(
        ConfigurationError, match=r"T, paragraph 1, question q1: spaCy's rules read"
    ):
        list(reader().read(file))
