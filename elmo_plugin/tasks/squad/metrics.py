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
from elmo_plugin.common.logs import get_logger
from elmo_plugin.tasks.counting import CountingMetric, precision_recall_f1, ratio
from elmo_plugin.tasks.dataset_reader import read_text_lines
from elmo_plugin.tasks.squad.articles import Paragraph

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

logger = get_logger(__name__)


def normalize(answer: str) -> str:
    """
    Returns an answer in lower case, without ASCII punctuation and the articles "a", "an" and "the",
    and with single spaces between words.
    """
    words = _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION))
    return " ".join(words.split())


def exact_match(predicted: str, answers: Iterable[str]) -> bool:
    """Returns whether an answer is one of the correct answers, after `normalize`."""
    return any(normalize(predicted) == normalize(answer) for answer in answers)


def f1(predicted: str, answers: Iterable[str]) -> float:
    """
    Returns the F1 of the words of an answer, after `normalize`, with the correct answer for which
    it is highest.
    """
    predicted_words = normalize(predicted).split()
    return max(_f1_of_words(predicted_words, normalize(answer).split()) for answer in answers)


def _f1_of_words(predicted: list[str], correct: list[str]) -> float:
    """Returns the F1 of predicted words. A word counts as often as both lists have it."""
    in_both = Counter(predicted) & Counter(correct)
    return precision_recall_f1(in_both.total(), len(predicted), len(correct)).f1


@Metric.register("squad_em_and_f1")
class SquadEmAndF1(CountingMetric):
    """
    Exact match and F1 of answers, as the official script of SQuAD 1.1 computes them, over all
    processes.

    Registered as a `Metric` with name "squad_em_and_f1".
    """

    def __call__(self, predicted: str | None, answers: Iterable[str]) -> None:  # type: ignore[override]
        """
        Adds one question by its predicted answer and the correct ones. A question without a
        prediction, `None`, counts as wrong and as missing.
        """
        answers = list(answers)
        sums = self.counts["questions"]
        sums["total"] += 1
        if predicted is None:
            sums["missing"] += 1
            return
        sums["exact_match"] += exact_match(predicted, answers)
        sums["f1"] += f1(predicted, answers)

    def percentages(self) -> dict[str, float]:
        """Returns `exact_match` and `f1`, their means over all questions, in percent."""
        sums = self.counts["questions"]
        return {
            "exact_match": ratio(100.0 * sums["exact_match"], sums["total"]),
            "f1": ratio(100.0 * sums["f1"], sums["total"]),
        }

    @overrides
    def metrics(self) -> dict[str, float]:
        """Returns `em` and `f1`, from 0 to 1."""
        percentages = self.percentages()
        return {"em": percentages["exact_match"] / 100, "f1": percentages["f1"] / 100}


def score_squad(paragraphs: Iterable[Paragraph], predictions: Mapping[str, str]) -> dict[str, Any]:
    """
    Scores predicted answers, by the ids of their questions, against the correct answers to all
    questions of the paragraphs. As in the official script, a question without a prediction counts
    as wrong. Returns `exact_match` and `f1` in percent, the number of all questions as `total`, and
    the number of questions without a prediction as `missing`. Predictions for other questions are
    skipped with a warning.

    Raises `ConfigurationError` for a question without a correct answer.
    """
    metric = SquadEmAndF1()
    unused = set(predictions)
    for paragraph in paragraphs:
        for question in paragraph.questions:
            unused.discard(str(question.id))
            if not question.answers:
                raise ConfigurationError(
                    f"{paragraph.location}, question {question.id}: answer missing"
                )
            answers = [answer.text for answer in question.answers]
            metric(predictions.get(str(question.id)), answers)
    if unused:
        logger.warning(
            "skipped the predictions for %d ids that no question has, such as %.60r",
            len(unused),
            min(unused),
        )
    sums = metric.counts["questions"]
    return {**metric.percentages(), "total": sums["total"], "missing": sums["missing"]}


def read_predictions(path: str) -> Mapping[str, str]:
    """
    Reads a JSON object with the answer to each question, by its id. Raises `ConfigurationError`,
    naming the file, if it is something else.
    """
    # Byte order marks are kept: an answer is part of a paragraph, and may contain some as well.
    text = "".join(line.text for line in read_text_lines(path, keep_marks=True))
    with as_configuration_error():
        predictions = parse_json(text, path)  # an error names the file
    if not isinstance(predictions, dict):
        raise ConfigurationError(
            f"{path}: expected a JSON object with the answer to each question, by its id"
        )
    for identifier, answer in predictions.items():
        if not isinstance(answer, str):
            raise ConfigurationError(
                f"{path}, question {identifier}: expected text, got {answer!r}"
            )
    return predictions
