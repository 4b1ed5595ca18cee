"""Passages with a list of questions each, as CMRC 2018 has them: `context_text`, `query_text`."""

from collections.abc import Iterator

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_fields import question_of_fields
from elmo_plugin.importers.squad_question import RawQuestion


def questions_of_passage(record: Record, options: ImportOptions) -> Iterator[RawQuestion]:
    """
    Yields the questions of a record, each with the fields of its passage, except for the id of the
    passage: no two questions may have the same.
    """
    fields_of_passage = dict(record.fields)
    del fields_of_passage["qas"]
    fields_of_passage.pop("id", None)
    for number, question in enumerate(record.fields["qas"], start=1):
        fields = dict(fields_of_passage)
        # Anything but an object becomes a question without a text, and is left out later.
        if isinstance(question, dict):
            fields |= question
        place = f"{record.place}, question {number}"
        yield question_of_fields(Record(record.file, place, fields), options)
