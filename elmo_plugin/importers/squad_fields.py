"""A question in each record: Hugging Face's JSON lines, AfriQA's, and rows of tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_question import RawQuestion
from elmo_plugin.importers.tables import Table

ROLES = ("context", "question", "answer", "answer_start", "answers", "id")
_USUAL = {
    "context": ("context", "passage", "paragraph", "context_text"),
    "question": ("question", "query_text"),
    "answer": ("answer", "answer_text", "text"),
    "answer_start": ("answer_start", "start", "start_pos", "start_char", "answer_start_char"),
    "answers": ("answer_pivot", "answers"),  # AfriQA's "answers" are in another language
    "detected_answers": ("detected_answers",),  # MRQA's, with all of their places
    "title": ("title",),
    "id": ("id", "query_id", "qid"),
    "is_impossible": ("is_impossible",),
}
"""The usual names, in lower case, of the field of each role; the first one that occurs counts."""
NAMES_OF_IDS = _USUAL["id"]
_ROLES_OF_ANSWERS = ("detected_answers", "answers", "answer")  # the first that has a value counts


def question_of_fields(record: Record, options: ImportOptions) -> RawQuestion:
    """
    Returns the question of a record. Raises `ConfigurationError`, naming file and place, if the
    record lacks a field that the options choose.
    """
    fields = record.fields
    names = find_names(list(fields), options, f"{record.file}, {record.place}")
    values = {role: fields[name] for role, name in names.items()}
    title = values.get("title")
    if not isinstance(title, str):
        title = ""
    return RawQuestion(
        place=record.place,
        passage=values.get("context"),
        text=values.get("question"),
        answers=_answers_of_fields(values),
        id=values.get("id"),
        title=title,
        is_impossible=values.get("is_impossible"),
    )


def _answers_of_fields(values: Mapping[str, Any]) -> Any:
    """
    Returns the answers among the values of the roles, together with their beginnings if these are
    in another field, or `None` if no answer is given.
    """
    answers = None
    for role in _ROLES_OF_ANSWERS:
        value = values.get(role)
        if value is not None and value != "":  # an empty cell is no answer
            answers = value
            break
    if isinstance(answers, str):
        answers = _answers_in_text(answers)
    if isinstance(answers, dict) or is_list_of(answers, dict):
        return answers  # objects have the beginnings of their answers
    starts = values.get("answer_start")
    if starts is None or starts == "":
        return answers
    if isinstance(starts, str):
        starts = value_in_cell(starts)
    return {"text": _as_list(answers), "answer_start": _as_list(starts)}


def _answers_in_text(text: str) -> Any:
    """
    Returns the object or the list of answers that a cell of a table has as text, such as
    `['rained']`. Any other text is an answer itself, such as `[1911]`, a list of numbers.
    """
    value = value_in_cell(text)
    if isinstance(value, dict) or is_list_of(value, str) or is_list_of(value, dict):
        return value
    return text


def _as_list(value: Any) -> list[Any]:
    """Returns a list unchanged, and any other value as the only item of a list."""
    if isinstance(value, list):
        return value
    return [value]


def questions_of_table(table: Table, options: ImportOptions) -> Iterator[RawQuestion]:
    """
    Yields the questions of a table whose first row that is not blank names its columns. Raises
    `ConfigurationError`, naming the file and the option, if it lacks a column of passages or of
    questions or one that the options choose, or if several columns have the same name and role.
    """
    header, *rows = [row for row in table.rows if not row.is_blank]
    names = [name.strip() for name in header.fields]
    location = f"{table.file}, {header.place}"
    roles = find_names(names, options, location)
    for role in ("context", "question"):
        if role not in roles:
            raise ConfigurationError(
                f"{location}: expected a column {role!r}, got "
                f"{', '.join(map(repr, names))}; --column {role}=NAME names it"
            )
    for role, name in roles.items():
        if names.count(name) > 1:
            raise ConfigurationError(
                f"{location}: expected one column that is called {name!r} ({role}), got "
                f"{names.count(name)}"
            )
    for row in rows:
        fields = dict(zip(names, row.fields, strict=True))
        yield question_of_fields(Record(table.file, row.place, fields), options)


def find_names(names: list[str], options: ImportOptions, location: str) -> dict[str, str]:
    """
    Returns, for each role that a field has, the name of the field: the one that `--column` chooses,
    or else the first usual one. Raises `ConfigurationError`, beginning with the location, if a
    chosen field is not among the names.
    """
    found = {}
    for role in ROLES:
        chosen = options.columns.get(role)
        if chosen is not None:
            found[role] = _chosen_name(role, chosen, names, location)
    # A chosen field has one role only. Of names that differ only in their case, the first counts.
    by_lower_case = {name.lower(): name for name in reversed(names) if name not in found.values()}
    answers_are_chosen = not found.keys().isdisjoint(_ROLES_OF_ANSWERS)
    for role, usual_names in _USUAL.items():
        if role in found or (answers_are_chosen and role in _ROLES_OF_ANSWERS):
            continue
        for usual_name in usual_names:
            if usual_name in by_lower_case:
                found[role] = by_lower_case[usual_name]
                break
    return found


def _chosen_name(role: str, chosen: str, names: list[str], location: str) -> str:
    """Returns the name of the field that `--column` chooses by its name, or its number from 0."""
    if chosen in names:
        return chosen
    if chosen.isdecimal() and int(chosen) < len(names):
        return names[int(chosen)]
    raise ConfigurationError(
        f"{location}: --column {role}: expected one of {', '.join(map(repr, names))}, got "
        f"{chosen!r}"
    )
