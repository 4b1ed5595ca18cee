"""The provenance of a figure: the commit of the package's code, the date, and the machine."""

import datetime
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
VECTORS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16")
LIMITS = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA")  # variables that forbid newer instructions


def provenance() -> dict[str, str]:
    """Returns the commit, the date as YYYY-MM-DD, and the processor, of this process and moment."""
    return {"commit": commit(), "date": datetime.date.today().isoformat(), "machine": processor()}


@cache
def commit(folder: Path = PACKAGE) -> str:
    """
    Returns the last commit that changed a folder or the experiments next to it, with `-changed` if
    files have changed since; an empty string if git does not know the folder (an installed wheel).
    """
    paths = ("--", ".", "../experiments")
    try:
        last = _git(folder, "log", "-1", "--format=%h", *paths)
        changes = _git(folder, "status", "--porcelain", *paths)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{last}-changed" if last and changes else last


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def processor() -> str:
    """
    Returns the name, family, model and widest vectors of the processor, and forbidden instructions.
    """
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor()
    pairs = (line.partition(":") for line in path.read_text().splitlines())
    known = {name.strip(): value.strip() for name, _, value in pairs}
    flags = known.get("flags", "").split()
    numbers = f"family {known.get('cpu family', '?')}, model {known.get('model', '?')}"
    vectors = " ".join(name for name in VECTORS if name in flags)
    limits = "".join(f", {name}={os.environ[name]}" for name in LIMITS if name in os.environ)
    return f"{known.get('model name', platform.processor())}, {numbers}, {vectors}{limits}"
