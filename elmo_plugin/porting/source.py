"""
Reads Jsonnet and JSON with comments, and writes JSON. External variables that are not given stay
`std.extVar`, so that the environment is read when the written file is.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import _jsonnet

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import parse_json
from elmo_plugin.config_check import VARIABLE
from elmo_plugin.porting.config import Config

_TEXT_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|#[^\n]*|/\*.*?\*/', re.S)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# Characters for private use stand around the name of a variable; the first also says if it is a number.
TEXT_VARIABLE, NUMBER_VARIABLE, _END = "\ue000", "\ue001", "\ue002"
_FUNCTIONS = {TEXT_VARIABLE: 'std.extVar("{}")', NUMBER_VARIABLE: 'std.parseJson(std.extVar("{}"))'}
_ANY_VALUE = "1"  # text and JSON


def read_config(
    text: str, name: str, given: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Config, list[str]]:
    """
    Evaluates a configuration. A variable of `given` has its value. Another one has a mark in the place of its
    value, or its value in `environment` if the configuration computes with it; returns the names of these.

    Raises `BiLmError`, beginning with `name`, if it cannot be evaluated.
    """
    values, fixed = dict(given), []
    try:
        config = real = _evaluate(text, name, values, environment)
    except BiLmError:
        _check_absent(name, [variable for variable in values if variable not in {**given, **environment}])
        raise
    marked = dict(values)
    for variable in [variable for variable in values if variable not in given]:
        text_mark, number_mark = (f"{kind}{variable}{_END}" for kind in _FUNCTIONS)
        for mark in (text_mark, f'"{number_mark}"'):  # std.parseJson makes the second a mark
            try:
                trial = _evaluate(text, name, {**marked, variable: mark}, environment)
            except (BiLmError, UnicodeDecodeError):  # the second of a message that cuts a mark
                continue
            if with_values(trial, values) == real and mark.strip('"') in json.dumps(
                trial, ensure_ascii=False
            ):
                config, marked[variable] = trial, mark
                break
        else:
            fixed.append(variable)
    _check_absent(name, [variable for variable in fixed if variable not in environment])
    if not isinstance(config, dict):
        raise BiLmError(f"{name}: expected an object, found {type(config).__name__}")
    return _ordered(config, text), fixed


def _check_absent(name: str, absent: list[str]) -> None:
    if absent:
        hint = " ".join(f"--ext-var {variable}=VALUE" for variable in absent)
        raise BiLmError(f"{name}: it computes with the variable {', '.join(absent)}: pass {hint}")


def _evaluate(text: str, name: str, variables: dict[str, str], environment: Mapping[str, str]) -> Any:
    """Evaluates Jsonnet, and adds each variable that it asks for to `variables`."""
    while True:
        try:
            return parse_json(_jsonnet.evaluate_snippet(name, text, ext_vars=variables), name)
        except RuntimeError as error:
            message = " ".join(str(error).splitlines()[0].split())
            undefined = re.search(r"undefined external variable: (\S+)", message, re.I)
            if undefined is None:
                raise BiLmError(f"{name}: {message}") from None
            variables[undefined[1]] = environment.get(undefined[1], _ANY_VALUE)


def with_values(config: Any, variables: Mapping[str, str]) -> Any:
    """Returns the configuration with the values of the variables that exist; others keep their marks."""
    if isinstance(config, dict):
        return {key: with_values(value, variables) for key, value in config.items()}
    if isinstance(config, list):
        return [with_values(value, variables) for value in config]
    if not isinstance(config, str):
        return config
    filled = VARIABLE.sub(lambda mark: variables.get(mark[2], mark[0]), config)
    is_number = config.startswith(NUMBER_VARIABLE) and filled != config
    return parse_json(filled, f"the variable {config[1:-1]}") if is_number else filled


def to_json(config: Config) -> str:
    """Returns the configuration as JSON; external variables are Jsonnet in it."""
    return _TEXT.sub(_with_functions, json.dumps(config, indent=2, ensure_ascii=False)) + "\n"


def _with_functions(literal: re.Match[str]) -> str:
    if not VARIABLE.search(literal[0]):
        return literal[0]
    jsonnet = VARIABLE.sub(lambda mark: f'" + {_FUNCTIONS[mark[1]].format(mark[2])} + "', literal[0])
    return jsonnet.removeprefix('"" + ').removesuffix(' + ""').replace(' + "" + ', " + ")


def _ordered(config: Config, text: str) -> Config:
    """Returns the configuration with its keys as they first appear in the file; Jsonnet sorts them."""
    plain = _TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", text)
    words = re.finditer(r"""["']?([\w-]+)["']?\s*\+?:""", plain)
    places = {word[1]: word.start() for word in reversed(list(words))}  # of the first

    def sort(value: Any) -> Any:
        if isinstance(value, list):
            return [sort(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {key: sort(value[key]) for key in sorted(value, key=lambda key: places.get(key, len(plain)))}

    ordered: Config = sort(config)
    return ordered
