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
    Returns the hash of the last commit that changed the package's `folder` or the folder
    `experiments` beside it. Appends `-changed` if files in them have changed since. Returns an
    empty string if git does not know the folder, as in an installed wheel.
    """
    experiments = "../experiments"  # as seen from `folder`, where `_git` runs
    try:
        last_commit = _git(folder, "log", "-1", "--format=%h", "--", ".", experiments)
        changes = _git(folder, "status", "--porcelain", "--", ".", experiments)
    except (OSError, subprocess.CalledProcessError):
        return ""
    if not last_commit:  # the folder is in a repository that does not have it
        return ""
    if changes:
        return f"{last_commit}-changed"
    return last_commit


def _git(folder: Path, *arguments: str) -> str:
    """Runs a command of git in a folder, and returns its output."""
    # Without locks, so that this does not disturb a `git commit` of the user at the same moment.
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return finished.stdout.strip()


def processor() -> str:
    """
    Describes the processor: its name, family and model, its vector instructions, and the
    environment variables that forbid some of these. Without /proc/cpuinfo, returns only the name
    that Python knows.
    """
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    # All cores of a machine are alike, so the last one stands for all.
    core = {}
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        core[key.strip()] = value.strip()
    name = core.get("model name", platform.processor())
    family_and_model = f"family {core.get('cpu family', '?')}, model {core.get('model', '?')}"
    flags = core.get("flags", "").split()
    instructions = " ".join(flag for flag in VECTOR_INSTRUCTIONS if flag in flags)
    facts = [name, family_and_model, instructions]
    for variable in LIMITING_VARIABLES:
        if variable in os.environ:
            facts.append(f"{variable}={os.environ[variable]}")
    return ", ".join(facts)
