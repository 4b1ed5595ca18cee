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
_SECONDS = 40  # for all evaluations together
_ANY_VALUE = "1"  # may be read as text, and as a number in JSON


def read_config(text: str, name: str, given: Mapping[str, str], trust: bool = False) -> Config:
    """
    Evaluates a configuration. A variable of `given` has its value, another one a mark in its place.
    `trust` lets it import files that are not in its folder.

    Raises `BiLmError`, beginning with `name`, if it cannot be evaluated, or computes with a
    variable.
    """
    try:
        config = parse_json(text, name)
    except BiLmError:  # it is no JSON, so it must be Jsonnet
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
        """Evaluates it in a process, and adds each variable that it asks for to `variables`."""
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
        found, error, asked = json.loads(result.stdout)
        if error:
            raise BiLmError(f"{self.name}: {error}{_hint_at_tried_variables(asked, variables)}")
        variables.update(asked)
        return parse_json(found, self.name)


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
    `BiLmError` if it computes with one: the mark would not say how.
    """
    values = dict(given)
    real = jsonnet.evaluate(values)  # adds any value for the variables that are not given
    config = real
    marks = dict(values)
    computed_with = []
    for variable in values:
        if variable in given:
            continue  # it keeps its value
        marked = _find_mark(jsonnet, variable, marks, values, real)
        if marked is None:
            computed_with.append(variable)
        else:
            config = marked.config
            marks[variable] = marked.value
    if computed_with:
        raise BiLmError(
            f"{jsonnet.name}: it computes with the variable {', '.join(computed_with)}: pass "
            f"{how_to_give(computed_with)}"
        )
    return config


def _find_mark(
    jsonnet: _Jsonnet,
    variable: str,
    marks: Mapping[str, str],
    values: Mapping[str, str],
    real: Any,
) -> _Marked | None:
    """
    Tries the mark of a text for a variable, then the mark of a number. A mark is right if it shows
    up in the configuration, and if this is `real` again with the values in the place of all marks.
    """
    for kind in (TEXT_VARIABLE, NUMBER_VARIABLE):
        mark = f"{kind}{variable}{_END}"
        value = mark
        if kind == NUMBER_VARIABLE:
            value = f'"{mark}"'  # std.parseJson takes the quotes away
        try:
            config = jsonnet.evaluate({**marks, variable: value})
        except BiLmError:
            continue  # such as a mark of a text that std.parseJson cannot read
        is_shown = mark in json.dumps(config, ensure_ascii=False)
        if is_shown and with_values(config, values) == real:
            return _Marked(config, value)
    return None


def _hint_at_tried_variables(asked: Mapping[str, str], known: Mapping[str, str]) -> str:
    """
    Returns the end of an error's message: the variables that were tried with any value, and how to
    give them one.
    """
    tried = [variable for variable in asked if variable not in known]
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
    Returns the configuration with the values of the variables that exist; others keep their marks.
    """
    if isinstance(config, dict):
        return {key: with_values(value, variables) for key, value in config.items()}
    if isinstance(config, list):
        return [with_values(value, variables) for value in config]
    if not isinstance(config, str):
        return config

    def value_of(mark: re.Match[str]) -> str:
        return variables.get(mark["name"], mark[0])

    filled = VARIABLE.sub(value_of, config)
    # The text is the mark alone: a number is without text around it.
    if config.startswith(NUMBER_VARIABLE) and filled != config:
        return parse_json(filled, f"the variable {config[1:-1]}")
    return filled


def variables_in(config: Config) -> list[str]:
    """Returns the variables whose marks are in the configuration."""
    marks = VARIABLE.finditer(json.dumps(config, ensure_ascii=False))
    return sorted({mark["name"] for mark in marks})


def to_json(config: Config) -> str:
    """Returns the configuration as JSON; external variables are Jsonnet in it."""
    text = escape_in_json(json.dumps(config, indent=2, ensure_ascii=False))
    return _TEXT.sub(_with_functions, text) + "\n"


def _with_functions(literal: re.Match[str]) -> str:
    """Returns a text of JSON as an expression of Jsonnet, with calls in the place of marks."""
    text = literal[0]
    if not VARIABLE.search(text):
        return text

    def call(mark: re.Match[str]) -> str:
        function = _FUNCTIONS[mark["kind"]].format(mark["name"])
        return f'" + {function} + "'

    expression = VARIABLE.sub(call, text)
    # A mark at an end of the text, or next to another mark, leaves an empty text there. It goes,
    # because adding it would turn a number into a text.
    expression = expression.removeprefix('"" + ').removesuffix(' + ""')
    return expression.replace(' + "" + ', " + ")
