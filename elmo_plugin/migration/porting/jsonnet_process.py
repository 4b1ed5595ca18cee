"""Evaluates Jsonnet in a process of its own, with little memory: `source.py` runs this file."""

import json
import re
import resource
import sys
from pathlib import Path

import _jsonnet

MEMORY = 10**9
MOST = 10**6  # characters of a configuration


resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
name, text, variables, trust, any_value = json.load(sys.stdin)
folder = Path(name).parent.resolve()


def read(base: str, path: str) -> tuple[str, bytes]:
    """Reads imports of Jsonnet; without `trust`, from the folder of the configuration."""
    file = Path(base, path)
    if not trust and not file.resolve().is_relative_to(folder):
        raise RuntimeError(
            "it is not in the folder of the configuration: use --trust if you trust that"
        )
    return str(file), file.read_bytes()


found, error = None, ""
while found is None and not error:
    try:
        found = _jsonnet.evaluate_snippet(name, text, ext_vars=variables, import_callback=read)
    except RuntimeError as mistake:
        error = " ".join(str(mistake).splitlines()[0].split())
        undefined = re.search(r"undefined external variable: (\S+)", error, re.I)
        if undefined and undefined[1] not in variables:
            variables[undefined[1]], error = any_value, ""
if len(found or "") > MOST:
    found, error = "", f"more than {MOST:,} characters"
json.dump([found, error, variables], sys.stdout)
