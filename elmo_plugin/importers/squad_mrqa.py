"""MRQA's JSON lines: a passage and its questions, with the places of answers that were detected."""

from collections.abc import Iterator
from typing import Any

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.squad_question import RawQuestion, fields_of_question


def is_mrqa(fields: dict[str, Any]) -> bool:
    """Returns whether a record has a passage, and one of its questions has detected answers."""
    questions = fields.get("qas")
    if not isinstance(questions, list) or "context" not in fields:
        return False
    for question in questions:
        if isinstance(question, dict) and "detected_answers" in question:
            return True
    return False


def questions_of_mrqa(record: Record) -> Iterator[RawQuestion]:
    """Yields the questions of a record, with all places of their detected answers."""
    for number, question in enumerate(record.fields["qas"], start=1):
        fields = fields_of_question(question)
        identifier = fields.get("qid") or fields.get("id")
        yield RawQuestion(
            place=f"{record.place}, question {identifier or number}",
            passage=record.fields["context"],
            text=fields.get("question"),
            answers=_answers_of(fields),
            id=identifier,
        )


def _answers_of(question: dict[str, Any]) -> Any:
    """
    Returns an object for each place of each detected answer. If no answer was detected, returns the
    question's `answers`, texts without places.
    """
    detected = question.get("detected_answers")
    if not is_list_of(detected, dict) or not detected:
        return question.get("answers")
    answers = []
    for answer in detected:
        for start in _starts_of(answer.get("char_spans")):
            answers.append({"text": answer.get("text"), "answer_start": start})
    return answers


def _starts_of(spans: Any) -> list[Any]:
    """
    Returns the first character of each span, a list of the first and the last one. If the spans are
    malformed, the answer has one unknown place, `None`.
    """
    if not is_list_of(spans, list) or not spans or not all(spans):
        return [None]
    return [span[0] for span in spans]
