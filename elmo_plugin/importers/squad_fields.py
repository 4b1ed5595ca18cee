"""A question in each record: Hugging Face's JSON lines, AfriQA's, and rows of tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.json_records import Record
from elmo_plugin.importers.options import ImportOptions, check_different_columns, chosen_name
from elmo_plugin.importers.squad_question import RawQuestion
from elmo_plugin.importers.tables import Table

ROLES = ("context", "question", "answer", "answer_start", "answers", "id")
_USUAL_NAMES = {
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
NAMES_OF_IDS = _USUAL_NAMES["id"]
_ROLES_OF_ANSWERS = ("detected_answers", "answers", "answer")  # the first that has a value counts


def question_of_fields(record: Record, options: ImportOptions) -> RawQuestion:
    """
    Returns the question of a record. Raises `ConfigurationError`, naming file and place, if the
    record lacks a field that the options choose.
    """
    fields = record.fields
    names = _find_names(list(fields), options, f"{record.file}, {record.place}")
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
    Returns the answers in the fields of a question, given the value of each role. If another field
    has their beginnings, both become one object. Returns `None` if no answer is given.
    """
    answers = _first_answers(values)
    if isinstance(answers, str):
        answers = _answers_in_text(answers)
    if isinstance(answers, dict) or is_list_of(answers, dict):
        return answers  # objects have the beginnings of their answers
    starts = values.get("answer_start")
    if _is_missing(starts):
        return answers
    if isinstance(starts, str):
        starts = value_in_cell(starts)
    return {"text": _as_list(answers), "answer_start": _as_list(starts)}


def _first_answers(values: Mapping[str, Any]) -> Any:
    """Returns the value of the first role of answers that has one, or `None`."""
    for role in _ROLES_OF_ANSWERS:
        value = values.get(role)
        if not _is_missing(value):
            return value
    return None


def _is_missing(value: Any) -> bool:
    """Returns whether a field is missing, or an empty cell of a table."""
    return value is None or value == ""


def _answers_in_text(text: str) -> Any:
    """
    Returns the answers in a text, such as a cell of a table: an object, a list of objects, or a
    list of texts such as `['rained']`. Any other text is the answer itself, even in brackets, such
    as `[1911]`.
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
    Yields the questions of a table. Its first row that is not blank names the columns.

    Raises `ConfigurationError`, naming the file and the option, if a column is missing or occurs
    several times.
    """
    header, *rows = [row for row in table.rows if not row.is_blank]
    names = [name.strip() for name in header.fields]
    _check_header(names, options, f"{table.file}, {header.place}")
    for row in rows:
        fields = dict(zip(names, row.fields, strict=True))
        yield question_of_fields(Record(table.file, row.place, fields), options)


def _check_header(names: list[str], options: ImportOptions, location: str) -> None:
    """
    Raises `ConfigurationError`, beginning with the location, if a header lacks a column of passages
    or of questions, or a column that the options choose, or if a name with a role is repeated.
    """
    names_by_role = _find_names(names, options, location)
    for role in ("context", "question"):
        if role not in names_by_role:
            raise ConfigurationError(
                f"{location}: expected a column {role!r}, got "
                f"{', '.join(map(repr, names))}; --column {role}=NAME names it"
            )
    for role, name in names_by_role.items():
        if names.count(name) > 1:
            raise ConfigurationError(
                f"{location}: expected one column that is called {name!r} ({role}), got "
                f"{names.count(name)}"
            )


def _find_names(names: list[str], options: ImportOptions, location: str) -> dict[str, str]:
    """
    Returns the name of the field for each role: the name that `--column` chooses, or else the first
    usual name that occurs. Roles without a field are left out. Raises `ConfigurationError`,
    beginning with the location, if a chosen field is not among the names.
    """
    found = {}
    for role in ROLES:
        chosen = options.columns.get(role)
        if chosen is None:
            continue
        name = chosen_name(chosen, names)
        if name is None:
            raise ConfigurationError(
                f"{location}: --column {role}: expected one of {', '.join(map(repr, names))}, got "
                f"{chosen!r}"
            )
        found[role] = name
    by_lower_case: dict[str, str] = {}
    for name in names:
        if name not in found.values():  # a field that is chosen for one role has no other
            by_lower_case.setdefault(name.lower(), name)
    answers_are_chosen = any(role in found for role in _ROLES_OF_ANSWERS)
    check_different_columns(found, location)
    for role, usual_names in _USUAL_NAMES.items():
        if role in found:
            continue
        if role in _ROLES_OF_ANSWERS and answers_are_chosen:
            continue  # the chosen field has all answers
        for usual_name in usual_names:
            if usual_name in by_lower_case:
                found[role] = by_lower_case[usual_name]
                break
    return found
