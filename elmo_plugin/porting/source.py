"""
Reads Jsonnet and JSON with comments, and writes JSON. External variables that are not given stay
`std.extVar`, so that the environment is read when the written file is.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import _jsonnet

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.porting.config import Config

_TEXT_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|#[^\n]*|/\*.*?\*/', re.S)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# Characters for private use stand around the name of a variable; the first also says if it is a number.
TEXT_VARIABLE, NUMBER_VARIABLE, _END = "\ue000", "\ue001", "\ue002"
_VARIABLE = re.compile(f"([{TEXT_VARIABLE}{NUMBER_VARIABLE}])([^{_END}]*){_END}")
_FUNCTIONS = {TEXT_VARIABLE: 'std.extVar("{}")', NUMBER_VARIABLE: 'std.parseJson(std.extVar("{}"))'}


def read_config(text: str, name: str, given: Mapping[str, str], environment: Mapping[str, str]) -> Config:
    """
    Evaluates a configuration. A variable of `given` has its value. Another one of `environment` has a mark in
    the place of its value, or the value itself if the configuration computes with it.

    Raises `BiLmError`, beginning with `name`, if it cannot be evaluated.
    """
    marks: dict[str, str] = {}

    def mark_next(variable: str) -> str:
        return marks.setdefault(variable, f"{TEXT_VARIABLE}{variable}{_END}")

    config = missing = None
    try:
        config = _evaluate(text, name, dict(given), mark_next)
        shown = json.dumps(config, ensure_ascii=False)
        missing = [variable for variable, mark in marks.items() if mark not in shown]
    except BiLmError:
        if not marks:
            raise
    if marks and marks.keys() <= environment.keys():
        real = _evaluate(text, name, {**environment, **given})
        config = config if config and with_values(config, environment) == real else real
    elif config is None or missing:
        absent = ", ".join(missing or [variable for variable in marks if variable not in environment])
        raise BiLmError(
            f"{name}: it computes with the variable {absent}: pass --ext-var {absent.split(',')[0]}=VALUE"
        )
    if not isinstance(config, dict):
        raise BiLmError(f"{name}: expected an object, found {type(config).__name__}")
    return _ordered(config, text)


def _evaluate(
    text: str, name: str, variables: dict[str, str], fallback: Callable[[str], str] | None = None
) -> Any:
    while True:
        try:
            return parse_json(_jsonnet.evaluate_snippet(name, text, ext_vars=variables), name)
        except RuntimeError as error:
            message = " ".join(str(error).splitlines()[0].split())
            undefined = re.search(r"undefined external variable: (\S+)", message, re.I)
            if undefined is None or fallback is None:
                raise BiLmError(f"{name}: {message}") from None
            variables[undefined[1]] = fallback(undefined[1])


def with_values(config: Any, variables: Mapping[str, str]) -> Any:
    """Returns the configuration with the values of the variables that exist; others keep their marks."""
    if isinstance(config, dict):
        return {key: with_values(value, variables) for key, value in config.items()}
    if isinstance(config, list):
        return [with_values(value, variables) for value in config]
    if not isinstance(config, str):
        return config
    filled = _VARIABLE.sub(lambda mark: variables.get(mark[2], mark[0]), config)
    return json.loads(filled) if config.startswith(NUMBER_VARIABLE) and filled != config else filled


def is_variable(text: str) -> bool:
    """Returns whether a text is an external variable and nothing else."""
    return _VARIABLE.fullmatch(text) is not None


def has_variable(text: str) -> bool:
    return _VARIABLE.search(text) is not None


def to_json(config: Config) -> str:
    """Returns the configuration as JSON; external variables are Jsonnet in it."""
    return _TEXT.sub(_with_functions, json.dumps(config, indent=2, ensure_ascii=False)) + "\n"


def _with_functions(literal: re.Match[str]) -> str:
    parts = []
    end = 1
    for mark in _VARIABLE.finditer(literal[0]):
        parts += [f'"{literal[0][end : mark.start()]}"', _FUNCTIONS[mark[1]].format(mark[2])]
        end = mark.end()
    return (
        " + ".join(part for part in [*parts, f'"{literal[0][end:]}'] if part != '""') if parts else literal[0]
    )


def _ordered(config: Config, text: str) -> Config:
    """Returns the configuration with its keys in the order of the file, because Jsonnet sorts them."""
    plain = _TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", text)
    try:
        in_order = json.loads(re.sub(r",(\s*[}\]])", r"\1", plain))
    except ValueError:
        in_order = None
    if in_order == config:
        return in_order
    places: dict[str, int] = {}
    for word in re.finditer(r"""["']?([\w-]+)["']?\s*\+?:""", plain):
        places.setdefault(word[1], word.start())

    def sort(value: Any) -> Any:
        if isinstance(value, list):
            return [sort(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {key: sort(value[key]) for key in sorted(value, key=lambda key: places.get(key, len(plain)))}

    ordered: Config = sort(config)
    return ordered
