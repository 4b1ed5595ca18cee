"""Exact match and F1 against the official script's figures, and against its rules word for word."""

import json
import re
import string
from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from elmo_plugin.tasks.dataset_reader import read_text_lines
from elmo_plugin.tasks.squad.articles import Paragraph, parse_squad
from elmo_plugin.tasks.squad.metrics import (
    exact_match,
    f1,
    normalize,
    read_predictions,
    score_squad,
)

FIXTURE = Path(__file__).parents[2] / "fixtures" / "squad" / "articles.json"
ANSWERS = st.text(alphabet="aAthen -'.,\u2013\u00e9\u0130 \t\n(1)", max_size=12)


def paragraphs(path: Path) -> list[Paragraph]:
    return list(parse_squad(read_text_lines(str(path))))


def literal_words(answer: str) -> list[str]:
    """The rules, one after the other: lower case, no punctuation, no articles, single spaces."""
    letters = [letter for letter in answer.lower() if letter not in string.punctuation]
    parts = re.split(r"(\W+)", "".join(letters))
    return "".join(" " if part in ("a", "an", "the") else part for part in parts).split()


def literal_f1(predicted: str, right: str) -> float:
    """Words in common, each as often as in both."""
    ours, theirs = literal_words(predicted), literal_words(right)
    remaining, common = list(theirs), 0
    for word in ours:
        if word in remaining:
            remaining.remove(word)
            common += 1
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def test_figures_equal_the_official_script(shared: Path) -> None:
    expected = json.loads((shared / "parity" / "squad" / "scores.json").read_text())
    data, predictions = (
        shared / "data" / "qa" / "dev.json",
        shared / "parity" / "squad" / "predictions.json",
    )
    figures = score_squad(paragraphs(data), read_predictions(str(predictions)))
    assert {name: figures[name] for name in expected} == expected
    assert figures["missing"] == 0


@given(ANSWERS, st.lists(ANSWERS, min_size=1, max_size=3))
def test_scores_are_the_best_over_all_answers(predicted: str, right: list[str]) -> None:
    assert normalize(predicted) == " ".join(literal_words(predicted))
    assert exact_match(predicted, right) == any(
        literal_words(predicted) == literal_words(each) for each in right
    )
    assert f1(predicted, right) == pytest.approx(max(literal_f1(predicted, each) for each in right))


def test_a_missing_answer_scores_zero_and_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    predictions = tmp_path / "answers.json"
    predictions.write_text(json.dumps({"a1": "in 1887", "a2": "Mira Koll of Lund", "other": "x"}))
    figures = score_squad(paragraphs(FIXTURE), read_predictions(str(predictions)))
    assert figures == {
        "exact_match": 25.0,
        "f1": pytest.approx(100 * (1 + 2 / 3) / 4),
        "total": 4,
        "missing": 2,
    }
    expected = "skipped the predictions for 1 ids that no question has, such as 'other'"
    assert caplog.messages == [expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "line 1: not JSON"),
        ("[]", "expected a JSON object"),
        ('{"a1": 3}', "question a1: expected text"),
    ],
)
def test_predictions_of_the_wrong_form_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "answers.json").write_text(text)
    with pytest.raises(ConfigurationError, match=f"answers.json.*{message}"):
        read_predictions(str(tmp_path / "answers.json"))


def test_questions_without_answers_cannot_be_scored(tmp_path: Path) -> None:
    content = json.loads(FIXTURE.read_text())
    content["data"][1]["paragraphs"][0]["qas"][0]["answers"] = []
    (tmp_path / "data.json").write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match="question b1: answer missing"):
        score_squad(paragraphs(tmp_path / "data.json"), {})
