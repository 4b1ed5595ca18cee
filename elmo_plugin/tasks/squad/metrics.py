"""Exact match and F1 of answers, as the official script of SQuAD 1.1 computes them."""

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.tasks.counting import ScoreMetric, Scores, precision_recall_f1
from elmo_plugin.tasks.dataset_reader import read_text_lines
from elmo_plugin.tasks.squad.articles import read_squad

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(answer: str) -> str:
    """Returns an answer in lower case, without ASCII punctuation and articles, and with single spaces."""
    words = _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION))
    return " ".join(words.split())


def exact_match(predicted: str, answers: Iterable[str]) -> bool:
    """Returns whether an answer is one of the correct answers, after `normalize`."""
    return any(normalize(predicted) == normalize(answer) for answer in answers)


def f1(predicted: str, answers: Iterable[str]) -> float:
    """Returns the best F1 of the words of an answer with a correct answer, after `normalize`."""
    return max(_f1(normalize(predicted).split(), normalize(answer).split()) for answer in answers)


def _f1(predicted: list[str], answer: list[str]) -> float:
    common = (Counter(predicted) & Counter(answer)).total()
    return precision_recall_f1(common, len(predicted), len(answer)).f1


class SquadScores(Scores):
    """Sums the scores of questions."""

    def __init__(self) -> None:
        self.total = 0
        self.missing = 0  # questions without a prediction (scored 0)
        self._exact = 0
        self._f1 = 0.0

    def add(self, predicted: str | None, answers: Iterable[str]) -> None:
        """Adds one question and its predicted answer, `None` without a prediction."""
        answers = list(answers)
        self.total += 1
        if predicted is None:
            self.missing += 1
            return
        self._exact += exact_match(predicted, answers)
        self._f1 += f1(predicted, answers)

    def figures(self) -> dict[str, float]:
        """Returns `exact_match` and `f1` in percent, as the official script sums them up, and `total`."""
        return {
            "exact_match": 100.0 * self._exact / self.total if self.total else 0.0,
            "f1": 100.0 * self._f1 / self.total if self.total else 0.0,
            "total": self.total,
        }


@Metric.register("squad_em_and_f1")
class SquadEmAndF1(ScoreMetric):
    """
    Exact match and F1 of answers, as the official script of SQuAD 1.1 computes them, over all processes.

    Registered as a `Metric` with name "squad_em_and_f1".
    """

    scores_class = SquadScores

    def __call__(self, predicted: str, answers: Iterable[str]) -> None:  # type: ignore[override]
        """Adds the predicted answer to one question, and the correct answers."""
        self._scores.add(predicted, answers)

    @overrides(check_signature=False)
    def metrics(self, scores: SquadScores) -> dict[str, float]:
        """Returns `em` and `f1`, from 0 to 1."""
        figures = scores.figures()
        return {"em": figures["exact_match"] / 100, "f1": figures["f1"] / 100}


def score_squad(data_path: str, predictions_path: str) -> dict[str, Any]:
    """
    Scores a JSON object with the answer to each question, by its id, against the JSON of SQuAD 1.1. As in the
    official script, a question without a prediction scores nothing.

    Returns `exact_match`, `f1`, `total` and `missing`.
    """
    predictions = _read_predictions(predictions_path)
    scores = SquadScores()
    for paragraph in read_squad(data_path):
        for question in paragraph.questions:
            if not question.answers:
                raise ConfigurationError(f"{paragraph.location}, question {question.id}: answer missing")
            scores.add(predictions.get(str(question.id)), [answer.text for answer in question.answers])
    if not scores.total:
        raise ConfigurationError(f"{data_path}: no questions in this file")
    return {**scores.figures(), "missing": scores.missing}


def _read_predictions(path: str) -> Mapping[str, str]:
    text = "".join(line.text for line in read_text_lines(path, keep_marks=True))
    with as_configuration_error():
        predictions = parse_json(text, path)
    if not isinstance(predictions, dict):
        raise ConfigurationError(
            f"{path}: expected a JSON object with the answer to each question, by its id"
        )
    for identifier, answer in predictions.items():
        if not isinstance(answer, str):
            raise ConfigurationError(f"{path}, question {identifier}: expected text, got {answer!r}")
    return predictions
