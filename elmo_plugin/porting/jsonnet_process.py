"""Evaluates Jsonnet in a process of its own, with little memory: `source.py` runs this file."""

import json
import re
import resource
import sys
from pathlib import Path

import _jsonnet

MEMORY = 10**9
MOST = 10**6  # characters of a configuration


def evaluate(name: str, text: str, variables: dict[str, str], trust: bool, any_value: str) -> tuple[str, str]:
    """
    Returns JSON and an empty text, or an empty text and the error. Adds each variable that the text asks for
    to `variables`. Without `trust`, imports are below the folder of the file.
    """
    folder = Path(name).parent.resolve()

    def read(base: str, path: str) -> tuple[str, bytes]:
        file = Path(base, path)
        if not trust and not file.resolve().is_relative_to(folder):
            raise RuntimeError("it is not in the folder of the configuration: use --trust if you trust that")
        return str(file), file.read_bytes()

    while True:
        try:
            found = _jsonnet.evaluate_snippet(name, text, ext_vars=variables, import_callback=read)
        except RuntimeError as error:
            message = " ".join(str(error).splitlines()[0].split())
            undefined = re.search(r"undefined external variable: (\S+)", message, re.I)
            if undefined is None:
                return "", message
            variables[undefined[1]] = any_value
        else:
            return (found, "") if len(found) <= MOST else ("", f"more than {MOST:,} characters")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = json.load(sys.stdin)
    answer = evaluate(**request)
    json.dump([*answer, request["variables"]], sys.stdout)
