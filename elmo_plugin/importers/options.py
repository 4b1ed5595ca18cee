"""The options that describe files to import. Anything that they leave open is found out."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.integers import is_whole_number


@dataclass(frozen=True)
class ImportOptions:
    """The options of `elmo import` that importers of all tasks may look at."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The name or the number, from 0, of the column or key of a role, such as `text` or `tag`."""
    encoding: str | None = None
    """The character encoding of the files, as Python names it."""
    separator: str | None = None
    """The separator of a table's columns."""
    labels: Sequence[str] = ()
    """The names of labels that are numbers, from 0."""
    language: str = "en"
    """The language of spaCy's rules, by which texts with marked characters become words."""
    tag_encoding: str | None = None
    """The encoding of the tags of entities, such as `IOB1`, or `plain` for other tags."""


def chosen_name(chosen: str, names: Sequence[str]) -> str | None:
    """
    Returns the name of the column or key that `--column` chooses by this name, or else by its
    number from 0. Returns `None` if it chooses none of them.
    """
    if chosen in names:
        return chosen
    if is_whole_number(chosen) and int(chosen) < len(names):
        return names[int(chosen)]
    return None


def _parse_columns(arguments: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
    """
    Parses `--column ROLE=NAME …`. Raises `ConfigurationError` for a role that the task does not
    have, or a role without a name.
    """
    columns = {}
    for argument in arguments:
        role, _, name = argument.partition("=")
        if role not in roles or not name:
            choices = ", ".join(f"{role}=NAME" for role in roles)
            raise ConfigurationError(f"--column: expected {choices}, got {argument!r}")
        columns[role] = name
    return columns


def options_of(args: argparse.Namespace, roles: Sequence[str]) -> ImportOptions:
    """
    Returns the options of a command line of `elmo import`, for a task with these roles of columns.
    Raises `ConfigurationError` if one of them is malformed.
    """
    separator = args.separator
    if separator in ("tab", "\\t"):  # a shell does not make a tab of the backslash and the t
        separator = "\t"
    if separator is not None and len(separator) != 1:
        raise ConfigurationError(f"--separator: expected one character, got {separator!r}")
    return ImportOptions(
        columns=_parse_columns(args.column, roles),
        encoding=args.encoding,
        separator=separator,
        labels=args.label_names or (),
        language=args.language or ImportOptions.language,
        tag_encoding=args.tags,
    )


def check_different_columns(chosen: Mapping[str, str], location: str) -> None:
    """
    Raises `ConfigurationError`, beginning with the location, if `--column` chooses the same column
    for two roles, as in `text=0 label=text`. `chosen` has the name of the column for each role.
    """
    roles_by_column: dict[str, str] = {}
    for role, column in chosen.items():
        if column in roles_by_column:
            raise ConfigurationError(
                f"{location}: --column: {roles_by_column[column]} and {role} are the same column, "
                f"{column!r}"
            )
        roles_by_column[column] = role
