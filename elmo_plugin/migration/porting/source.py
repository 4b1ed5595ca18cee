"""
Reads Jsonnet and JSON with comments, and writes JSON. External variables that are not given stay
`std.extVar`; the environment is not read.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.formats.json_files import as_object, parse_json
from elmo_plugin.config_check import VARIABLE
from elmo_plugin.migration.porting.config import Config

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# Characters for private use stand around the name of a variable; the first also says if it is a
# number.
TEXT_VARIABLE, NUMBER_VARIABLE, _END = "\ue000", "\ue001", "\ue002"
_FUNCTIONS = {TEXT_VARIABLE: 'std.extVar("{}")', NUMBER_VARIABLE: 'std.parseJson(std.extVar("{}"))'}
_SECONDS = 40
_ANY_VALUE = "1"  # text and JSON


def read_config(text: str, name: str, given: Mapping[str, str], trust: bool = False) -> Config:
    """
    Evaluates a configuration. A variable of `given` has its value, another one a mark in its place.
    `trust` lets it import files that are not in its folder.

    Raises `BiLmError`, beginning with `name`, if it cannot be evaluated, or computes with a
    variable.
    """
    end = time.monotonic() + _SECONDS
    values = dict(given)
    try:
        config = parse_json(text, name)
    except BiLmError:
        config = _evaluate(text, name, values, trust, end)
    real, marked = config, dict(values)
    computed = []
    for variable in [each for each in values if each not in given]:
        text_mark, number_mark = (f"{kind}{variable}{_END}" for kind in _FUNCTIONS)
        for mark in (text_mark, f'"{number_mark}"'):  # std.parseJson makes the second a mark
            try:
                trial = _evaluate(text, name, {**marked, variable: mark}, trust, end)
            except BiLmError:
                continue
            shown = json.dumps(trial, ensure_ascii=False)
            if with_values(trial, values) == real and mark.strip('"') in shown:
                config, marked[variable] = trial, mark
                break
        else:
            computed.append(variable)
    if computed:
        hint = " ".join(f"--ext-var {variable}=VALUE" for variable in computed)
        raise BiLmError(f"{name}: it computes with the variable {', '.join(computed)}: pass {hint}")
    return as_object(config, name)


def _evaluate(text: str, name: str, variables: dict[str, str], trust: bool, end: float) -> Any:
    """Evaluates Jsonnet in a process, and adds each variable that it asks for to `variables`."""
    try:
        result = subprocess.run(
            [sys.executable, Path(__file__).with_name("jsonnet_process.py")],
            input=json.dumps([name, text, variables, trust, _ANY_VALUE]).encode(),
            capture_output=True,
            timeout=max(end - time.monotonic(), 0),
        )
    except subprocess.TimeoutExpired:
        raise BiLmError(f"{name}: Jsonnet took more than {_SECONDS} seconds") from None
    if result.returncode:
        last = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BiLmError(f"{name}: Jsonnet ended, as it does beyond 1 GB of memory ({last:.200})")
    found, error, asked = json.loads(result.stdout)
    if error:
        raise BiLmError(f"{name}: {error}{_hint_of_tried(asked, variables)}")
    variables |= asked
    return parse_json(found, name)


def _hint_of_tried(asked: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Returns which variables had a value that nobody gave, for an error, and how to give one."""
    tried = [variable for variable in asked if variable not in known]
    if not tried:
        return ""
    options = " ".join(f"--ext-var {variable}=VALUE" for variable in tried)
    return (
        f" (tried with {_ANY_VALUE!r} for the variable {', '.join(tried)}: if it computes with it, "
        f"pass {options})"
    )


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
    filled = VARIABLE.sub(lambda mark: variables.get(mark[2], mark[0]), config)
    is_number = config.startswith(NUMBER_VARIABLE) and filled != config
    return parse_json(filled, f"the variable {config[1:-1]}") if is_number else filled


def variables_in(config: Config) -> list[str]:
    """Returns the variables whose marks are in the configuration."""
    return sorted({mark[2] for mark in VARIABLE.finditer(json.dumps(config, ensure_ascii=False))})


def to_json(config: Config) -> str:
    """Returns the configuration as JSON; external variables are Jsonnet in it."""
    return _TEXT.sub(_with_functions, json.dumps(config, indent=2, ensure_ascii=False)) + "\n"


def _with_functions(literal: re.Match[str]) -> str:
    if not VARIABLE.search(literal[0]):
        return literal[0]
    jsonnet = VARIABLE.sub(
        lambda mark: f'" + {_FUNCTIONS[mark[1]].format(mark[2])} + "', literal[0]
    )
    return jsonnet.removeprefix('"" + ').removesuffix(' + ""').replace(' + "" + ', " + ")
