"""
Reads Jsonnet and JSON with comments, and writes JSON. External variables that are not given stay
`std.extVar`; the environment is not read.
"""

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import as_object, parse_json
from elmo_plugin.common.streams import escape_in_json
from elmo_plugin.config_check import VARIABLE
from elmo_plugin.migration.porting.config import Config

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# Characters for private use stand around the name of a variable; the first also says if it is a
# number.
TEXT_VARIABLE = "\ue000"
NUMBER_VARIABLE = "\ue001"
_END = "\ue002"
_FUNCTIONS = {TEXT_VARIABLE: 'std.extVar("{}")', NUMBER_VARIABLE: 'std.parseJson(std.extVar("{}"))'}
_SECONDS = 200  # for all evaluations together, also on a slow machine
_ANY_VALUE = "1"  # may be read as text, and as a number in JSON


def read_config(text: str, name: str, given: Mapping[str, str], trust: bool = False) -> Config:
    """
    Evaluates a configuration. External variables get the values in `given`. A variable without a
    value there becomes a mark with its name, so that `to_json` can write the variable again.
    `trust` lets the configuration import files that are not in its folder.

    Raises `BiLmError`, beginning with `name`, if the configuration cannot be evaluated, or computes
    with a variable that is not given.
    """
    try:
        config = parse_json(text, name)
    except BiLmError:  # it is not JSON, so it must be Jsonnet
        jsonnet = _Jsonnet(text, name, trust, end=time.monotonic() + _SECONDS)
        config = _evaluate_with_marks(jsonnet, given)
    return as_object(config, name)


class _Jsonnet(NamedTuple):
    """
    A configuration in Jsonnet.

    trust: whether it may import files that are not in its folder
    end: the time at which all evaluations must be done
    """

    text: str
    name: str
    trust: bool
    end: float

    def evaluate(self, variables: dict[str, str]) -> Any:
        """
        Evaluates the configuration in a process. Adds each variable that it uses, and that is not
        in `variables`, to `variables`, with the value `_ANY_VALUE`.
        """
        task = [self.name, self.text, variables, self.trust, _ANY_VALUE]
        try:
            result = subprocess.run(
                [sys.executable, Path(__file__).with_name("jsonnet_process.py")],
                input=json.dumps(task).encode(),
                capture_output=True,
                timeout=max(self.end - time.monotonic(), 0),
            )
        except subprocess.TimeoutExpired:
            message = f"{self.name}: Jsonnet took more than {_SECONDS} seconds"
            raise BiLmError(message) from None
        if result.returncode:
            *_, last_line = result.stderr.decode(errors="replace").strip().split("\n")
            raise BiLmError(
                f"{self.name}: Jsonnet ended, as it does beyond 1 GB of memory ({last_line:.200})"
            )
        config, error, all_variables = json.loads(result.stdout)
        if error:
            hint = _hint_at_tried_variables(all_variables, variables)
            raise BiLmError(f"{self.name}: {error}{hint}")
        variables.update(all_variables)
        return parse_json(config, self.name)


class _Marked(NamedTuple):
    """
    A configuration with a mark in the place of one more variable.

    value: the value of the variable that makes the mark
    """

    config: Any
    value: str


def _evaluate_with_marks(jsonnet: _Jsonnet, given: Mapping[str, str]) -> Any:
    """
    Evaluates a configuration with a mark in the place of each variable that is not given. Raises
    `BiLmError` if it computes with such a variable, because the result would not contain the mark.
    """
    values = dict(given)
    config_of_values = jsonnet.evaluate(values)  # adds any value for the variables not given
    config = config_of_values
    values_or_marks = dict(values)
    computed_with = []
    for variable in values:
        if variable in given:
            continue
        marked = _find_mark(jsonnet, variable, values_or_marks, values, config_of_values)
        if marked is None:
            computed_with.append(variable)
        else:
            config = marked.config
            values_or_marks[variable] = marked.value
    if computed_with:
        raise BiLmError(
            f"{jsonnet.name}: it computes with the variable {', '.join(computed_with)}: pass "
            f"{how_to_give(computed_with)}"
        )
    return config


def _find_mark(
    jsonnet: _Jsonnet,
    variable: str,
    values_or_marks: Mapping[str, str],
    values: Mapping[str, str],
    config_of_values: Any,
) -> _Marked | None:
    """
    Evaluates the configuration with a mark in the place of a variable, and marks or values in the
    place of the others. Tries a mark for a variable that is a text, and then a mark for a number.

    A mark is right if it is in the configuration, and if the configuration equals
    `config_of_values` when the values replace all marks. Returns `None` if neither mark is right.
    """
    for kind in (TEXT_VARIABLE, NUMBER_VARIABLE):
        mark = f"{kind}{variable}{_END}"
        value = mark
        if kind == NUMBER_VARIABLE:
            value = f'"{mark}"'  # numbers are read by std.parseJson: it removes the quotes
        try:
            config = jsonnet.evaluate({**values_or_marks, variable: value})
        except BiLmError:
            continue  # the mark does not fit: std.parseJson cannot read the mark of a text
        has_mark = mark in json.dumps(config, ensure_ascii=False)
        if has_mark and with_values(config, values) == config_of_values:
            return _Marked(config, value)
    return None


def _hint_at_tried_variables(all_variables: Mapping[str, str], given: Mapping[str, str]) -> str:
    """
    Returns the end of an error's message. It names the variables that were not given, because the
    value `_ANY_VALUE` may be the reason for the error, and the options that give them values.
    """
    tried = [variable for variable in all_variables if variable not in given]
    if not tried:
        return ""
    return (
        f" (tried with {_ANY_VALUE!r} for the variable {', '.join(tried)}: if it computes with it, "
        f"pass {how_to_give(tried)})"
    )


def how_to_give(variables: Iterable[str]) -> str:
    """Returns the options that give variables their values, quoted for a shell."""
    options = []
    for variable in variables:
        assignment = shlex.quote(variable) + "=VALUE"
        options.append(f"--ext-var {assignment}")
    return " ".join(options)


def with_values(config: Any, variables: Mapping[str, str]) -> Any:
    """
    Returns the configuration with the values of variables in the place of their marks. A variable
    that is not in `variables` keeps its mark.
    """
    if isinstance(config, dict):
        return {key: with_values(value, variables) for key, value in config.items()}
    if isinstance(config, list):
        return [with_values(value, variables) for value in config]
    if not isinstance(config, str):
        return config

    # A number becomes part of a text if the configuration joins them, as in "epoch" + number.
    single_mark = VARIABLE.fullmatch(config)
    if single_mark is not None and single_mark["kind"] == NUMBER_VARIABLE:
        name = single_mark["name"]
        if name in variables:
            return parse_json(variables[name], f"the variable {name}")

    def value_of(mark: re.Match[str]) -> str:
        return variables.get(mark["name"], mark[0])

    return VARIABLE.sub(value_of, config)


def variables_in(config: Config) -> list[str]:
    """Returns the variables whose marks are in the configuration."""
    marks = VARIABLE.finditer(json.dumps(config, ensure_ascii=False))
    return sorted({mark["name"] for mark in marks})


def to_json(config: Config) -> str:
    """Returns the configuration as JSON; external variables are Jsonnet in it."""
    text = escape_in_json(json.dumps(config, indent=2, ensure_ascii=False))
    return _TEXT.sub(_with_functions, text) + "\n"


def _with_functions(literal: re.Match[str]) -> str:
    """
    Replaces the marks in a JSON string by calls of `std.extVar`. Returns a Jsonnet expression, such
    as `"data/" + std.extVar("NAME") + ".txt"`.
    """
    text = literal[0]
    if not VARIABLE.search(text):
        return text

    def join_call(mark: re.Match[str]) -> str:
        call = _FUNCTIONS[mark["kind"]].format(mark["name"])
        return f'" + {call} + "'

    expression = VARIABLE.sub(join_call, text)
    # An empty string is left before a mark at the start, after a mark at the end, and between two
    # marks. It is removed, because a number plus an empty string is a string in Jsonnet.
    expression = expression.removeprefix('"" + ').removesuffix(' + ""')
    return expression.replace(' + "" + ', " + ")
