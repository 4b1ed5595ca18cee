"""Passages with a list of questions each, as CMRC 2018 has them: `context_text`, `query_text`."""

from collections.abc import Iterator

from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_fields import question_of_fields
from elmo_plugin.importers.squad_question import RawQuestion


def questions_of_passage(record: Record, options: ImportOptions) -> Iterator[RawQuestion]:
    """Yields the questions of a record; its own fields belong to each of them."""
    for number, item in enumerate(record.fields["qas"], start=1):
        fields = {name: value for name, value in record.fields.items() if name != "qas"}
        if isinstance(item, dict):
            fields |= item
        yield question_of_fields(fields, f"{record.place}, question {number}", options)
