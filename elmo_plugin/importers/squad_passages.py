"""Passages with a list of questions each, as CMRC 2018 has them: `context_text`, `query_text`."""

from dataclasses import replace

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_fields import NAMES_OF_IDS, question_of_fields
from elmo_plugin.importers.squad_question import RawQuestion


def questions_of_passage(record: Record, options: ImportOptions) -> list[RawQuestion]:
    """
    Returns the questions of a record, each with the fields of its passage. An id that all of
    several questions have is the passage's, and is left out.
    """
    passage = dict(record.fields)
    del passage["qas"]
    passage_without_id = {
        name: value for name, value in passage.items() if name.lower() not in NAMES_OF_IDS
    }
    questions = []
    for number, question in enumerate(record.fields["qas"], start=1):
        fields = dict(passage)
        # Anything but an object becomes a question without a text, and is left out later.
        if isinstance(question, dict):
            if any(name.lower() in NAMES_OF_IDS for name in question):
                fields = dict(passage_without_id)
            fields |= question
        place = f"{record.place}, question {number}"
        questions.append(question_of_fields(Record(record.file, place, fields), options))
    first_ids = [question.id for question in questions[:1]]
    if len(questions) > 1 and all(question.id in first_ids for question in questions):
        return [replace(question, id=None) for question in questions]
    return questions
