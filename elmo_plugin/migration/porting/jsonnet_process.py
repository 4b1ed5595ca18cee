"""Evaluates Jsonnet in a process of its own, with little memory: `source.py` runs this file."""

import json
import re
import resource
import sys
from pathlib import Path

import _jsonnet

MOST_MEMORY = 10**9  # bytes
MOST_CHARACTERS = 10**6  # of the JSON
UNDEFINED = re.compile(r"undefined external variable: (?P<name>\S+)", re.IGNORECASE)


def evaluate(
    name: str, text: str, variables: dict[str, str], trust: bool, any_value: str
) -> tuple[str, str]:
    """
    Evaluates the configuration `text` of the file `name`. Returns its JSON and an empty error, or
    empty JSON and the error. Adds each variable that the configuration uses, and that is not in
    `variables`, to `variables`, with the value `any_value`.
    """
    folder = Path(name).parent.resolve()

    def read(base: str, path: str) -> tuple[str, bytes]:
        """
        Reads a file that the configuration imports. Without `trust`, the file must be in the folder
        of the configuration.
        """
        file = Path(base, path)
        if not trust and not file.resolve().is_relative_to(folder):
            raise RuntimeError(
                "it is not in the folder of the configuration: use --trust if you trust that"
            )
        return str(file), file.read_bytes()

    # An error names only one missing variable, so each one takes another attempt.
    while True:
        try:
            found = _jsonnet.evaluate_snippet(name, text, ext_vars=variables, import_callback=read)
        except RuntimeError as mistake:
            first_line, *_ = str(mistake).splitlines()
            error = " ".join(first_line.split())
        else:
            if len(found) > MOST_CHARACTERS:
                return "", f"more than {MOST_CHARACTERS:,} characters"
            return found, ""
        undefined = UNDEFINED.search(error)
        if undefined is None or undefined["name"] in variables:
            return "", error
        variables[undefined["name"]] = any_value


resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump if the memory does not suffice
name, text, variables, trust, any_value = json.load(sys.stdin)
found, error = evaluate(name, text, variables, trust, any_value)
json.dump([found, error, variables], sys.stdout)
