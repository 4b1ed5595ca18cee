"""A question in each record: Hugging Face's JSON lines, AfriQA's, and rows of tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.formats.json_files import is_list_of
from elmo_plugin.importers.cells import value_in_cell
from elmo_plugin.importers.options import ImportOptions
from elmo_plugin.importers.squad_question import RawQuestion
from elmo_plugin.importers.tables import Table

ROLES = ("context", "question", "answer", "answer_start", "answers", "id")
_USUAL = {
    "context": ("context", "passage", "paragraph", "context_text"),
    "question": ("question", "query_text"),
    "answer": ("answer", "answer_text", "text"),
    "answer_start": ("answer_start", "start", "start_pos", "start_char", "answer_start_char"),
    "answers": ("answer_pivot", "answers"),  # AfriQA has answers in another language, too
    "detected_answers": ("detected_answers",),  # MRQA's, with all of their places
    "title": ("title",),
    "id": ("id", "query_id", "qid"),
    "is_impossible": ("is_impossible",),
}
"""The names that fields have, in lower case, for each role."""


def question_of_fields(
    fields: Mapping[str, Any], place: str, options: ImportOptions
) -> RawQuestion:
    """Returns the question that the fields of a record are."""
    found = {role: fields.get(name) for role, name in find_names(list(fields), options).items()}
    answers = found.get("detected_answers")
    if answers is None:
        answers = _answers_of_fields(found)
    title = found.get("title")
    if not isinstance(title, str):
        title = ""
    return RawQuestion(
        place=place,
        passage=found.get("context"),
        text=found.get("question"),
        answers=answers,
        id=found.get("id"),
        title=title,
        is_impossible=found.get("is_impossible"),
    )


def _answers_of_fields(found: Mapping[str, Any]) -> Any:
    """Returns the answers in the fields of their roles, with their beginnings if it has them."""
    answers = found.get("answers")
    if answers is None:
        answers = found.get("answer")
    if isinstance(answers, str):
        value = value_in_cell(answers)
        if isinstance(value, dict) or is_list_of(value, str) or is_list_of(value, dict):
            answers = value
    starts = found.get("answer_start")
    have_starts = isinstance(answers, dict) or is_list_of(answers, dict)
    if have_starts or starts is None or starts == "":
        return answers
    if isinstance(starts, str):
        starts = value_in_cell(starts)
    return {"text": _as_list(answers), "answer_start": _as_list(starts)}


def _as_list(value: Any) -> list[Any]:
    """Returns a list, or a list of the only value."""
    if isinstance(value, list):
        return value
    return [value]


def questions_of_table(table: Table, options: ImportOptions) -> Iterator[RawQuestion]:
    """
    Yields the questions of a table; its first row names its columns. Raises `ConfigurationError`,
    naming the file and the option, if there is none of passages or of questions.
    """
    names = [name.strip() for name in table.rows[0].fields]
    roles = find_names(names, options)
    for role in ("context", "question"):
        if role not in roles:
            raise ConfigurationError(
                f"{table.file}, line 1: expected a column {role!r}, got "
                f"{', '.join(map(repr, names))}; --column {role}=NAME names it"
            )
    for row in table.rows[1:]:
        if any(row.fields):
            yield question_of_fields(dict(zip(names, row.fields, strict=True)), row.place, options)


def find_names(names: list[str], options: ImportOptions) -> dict[str, str]:
    """Returns the name of the field of each role: the one of `--column`, or the first usual one."""
    found = {}
    for role in ROLES:
        chosen = options.columns.get(role)
        if chosen is not None:
            found[role] = _chosen_name(chosen, names)
    # Of names that differ only in their case, the first counts.
    by_lower_case = {name.lower(): name for name in reversed(names) if name not in found.values()}
    for role, usual in _USUAL.items():
        if role in found:
            continue
        for name in usual:
            if name in by_lower_case:
                found[role] = by_lower_case[name]
                break
    return found


def _chosen_name(chosen: str, names: list[str]) -> str:
    """Returns the name of a field that was chosen by its name, or by its number from 0."""
    if chosen in names:
        return chosen
    if chosen.isdecimal() and int(chosen) < len(names):
        return names[int(chosen)]
    raise ConfigurationError(f"--column: there is no {chosen!r}, only {', '.join(names)}")
