"""Evaluates Jsonnet in a process of its own, with little memory: `source.py` runs this file."""

import json
import re
import resource
import sys
from pathlib import Path

import _jsonnet

MEMORY = 10**9
MOST = 10**6  # characters of a configuration
UNDEFINED = re.compile(r"undefined external variable: (\S+)", re.I)


def evaluate(
    name: str, text: str, variables: dict[str, str], trust: bool, any_value: str
) -> tuple[str, str]:
    """
    Returns the JSON and no error, or no JSON and the error. Adds each variable that the
    configuration needs, and that is missing, to `variables`, with any value.
    """
    folder = Path(name).parent.resolve()

    def read(base: str, path: str) -> tuple[str, bytes]:
        """Reads an import of Jsonnet; without `trust`, from the folder of the configuration."""
        file = Path(base, path)
        if not trust and not file.resolve().is_relative_to(folder):
            raise RuntimeError(
                "it is not in the folder of the configuration: use --trust if you trust that"
            )
        return str(file), file.read_bytes()

    while True:
        try:
            found = _jsonnet.evaluate_snippet(name, text, ext_vars=variables, import_callback=read)
        except RuntimeError as mistake:
            first_line, *_ = str(mistake).splitlines()
            error = " ".join(first_line.split())
        else:
            if len(found) > MOST:
                return "", f"more than {MOST:,} characters"
            return found, ""
        undefined = UNDEFINED.search(error)
        if undefined is None or undefined[1] in variables:
            return "", error
        variables[undefined[1]] = any_value


resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
name, text, variables, trust, any_value = json.load(sys.stdin)
found, error = evaluate(name, text, variables, trust, any_value)
json.dump([found, error, variables], sys.stdout)
