"""The provenance of a figure: the commit of the package's code, the date, and the machine."""

import datetime
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# Vector instructions, as /proc/cpuinfo calls them.
VECTOR_INSTRUCTIONS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16")
# The environment variables that forbid newer instructions.
LIMITING_VARIABLES = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA")


def provenance() -> dict[str, str]:
    """Returns the commit, the date as YYYY-MM-DD, and the processor, of this process and moment."""
    return {"commit": commit(), "date": datetime.date.today().isoformat(), "machine": processor()}


@cache
def commit(folder: Path = PACKAGE) -> str:
    """
    Returns the last commit that changed a folder or the folder `experiments` next to it, with
    `-changed` if files there have changed since. Returns an empty string if git does not know the
    folder, as in an installed wheel.
    """
    paths = ("--", ".", "../experiments")  # from `folder`, where `_git` runs
    try:
        last = _git(folder, "log", "-1", "--format=%h", *paths)
        changes = _git(folder, "status", "--porcelain", *paths)
    except (OSError, subprocess.CalledProcessError):
        return ""
    if last and changes:  # in a repository without this folder, `last` is empty
        return f"{last}-changed"
    return last


def _git(folder: Path, *arguments: str) -> str:
    """Runs a command of git in a folder, and returns its output."""
    command = ["git", "-C", str(folder), *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return finished.stdout.strip()


def processor() -> str:
    """
    Returns the name, family and model of the processor, its vector instructions, and the values of
    `LIMITING_VARIABLES`. Without /proc/cpuinfo, returns the name that Python knows.
    """
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    known = {}
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        known[name.strip()] = value.strip()  # the last core's, as all cores are alike
    flags = known.get("flags", "").split()
    numbers = f"family {known.get('cpu family', '?')}, model {known.get('model', '?')}"
    vectors = " ".join(name for name in VECTOR_INSTRUCTIONS if name in flags)
    facts = [known.get("model name", platform.processor()), numbers, vectors]
    for name in LIMITING_VARIABLES:
        if name in os.environ:
            facts.append(f"{name}={os.environ[name]}")
    return ", ".join(facts)
