"""Passages with a list of questions each, as CMRC 2018 has them: `context_text`, `query_text`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_fields import NAMES_OF_IDS, question_of_fields
from elmo_plugin.importers.squad_question import RawQuestion, fields_of_question


def questions_of_passage(record: Record, options: ImportOptions) -> list[RawQuestion]:
    """
    Returns the questions of a record, each with the fields of its passage. If several questions
    have the same id, it is the id of the passage, and is left out.
    """
    passage = dict(record.fields)
    del passage["qas"]
    questions = []
    for number, question in enumerate(record.fields["qas"], start=1):
        own_fields = fields_of_question(question)
        fields_of_passage = passage
        if _has_id(own_fields):  # perhaps under another name than the passage's
            fields_of_passage = _without_id(passage)
        fields = fields_of_passage | own_fields
        place = f"{record.place}, question {number}"
        questions.append(question_of_fields(Record(record.file, place, fields), options))
    have_same_id = all(question.id == questions[0].id for question in questions)
    if have_same_id and len(questions) > 1:
        return [replace(question, id=None) for question in questions]
    return questions


def _has_id(fields: Mapping[str, Any]) -> bool:
    """Returns whether one of the fields has the usual name of an id."""
    return any(name.lower() in NAMES_OF_IDS for name in fields)


def _without_id(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that do not have the usual name of an id."""
    return {name: value for name, value in fields.items() if name.lower() not in NAMES_OF_IDS}
