"""Print the versions of packages, and those that each command lacks. Ends with status 1 if a
command cannot run.

    elmo doctor
    elmo doctor > report.txt
"""

import argparse
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from elmo_plugin.common.errors import INSTALL_ALLENNLP
from elmo_plugin.common.streams import show

OPTIONAL = {
    "download": "models by URL, and names such as original",
    "figures": "weights --plot",
    "cluster": "embed --dask, sweep --dask and --workers",
}
"""Extras of the package, and the options that need them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds none."""


def run(args: argparse.Namespace) -> None:
    """Raises `SystemExit` with status 1 if a command cannot run."""
    from elmo_plugin.commands.command import COMMANDS

    show(f"Python {platform.python_version()}, {platform.platform()}")
    for package in ("elmo_plugin", "torch", "numpy", "allennlp"):
        show(f"{package} {installed(package) or 'missing'}")
    allennlp = [*missing("allennlp"), *([] if installed("allennlp") else ["allennlp"])]
    names = " ".join(command.name for command in COMMANDS.values() if command.needs_allennlp)
    needed = {
        "every command": (missing(""), ["pip install elmo_plugin"]),
        f"{names} new --data": (allennlp, INSTALL_ALLENNLP),
        "demo": (missing("demo"), ["pip install 'elmo_plugin[demo]'"]),
    }
    optional = {
        about: (missing(name), [f"pip install 'elmo_plugin[{name}]'"])
        for name, about in OPTIONAL.items()
    }
    for about, (packages, lines) in (needed | optional).items():
        if packages:
            show(f"\n{about}: missing {', '.join(packages)}", *lines, sep="\n    ")
    if any(packages for packages, _ in needed.values()):
        sys.exit(1)
    show("\nevery command can run")


def installed(package: str) -> str:
    """Returns the version of a package, without importing it, or an empty string."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def missing(extra: str) -> list[str]:
    """Returns the packages of an extra, or those that are always needed, that are not installed."""
    names = []
    for line in requires("elmo_plugin") or []:
        requirement, _, marker = line.partition(";")
        of_extra = re.search("extra == ['\"](.*)['\"]", marker)
        if (of_extra[1] if of_extra else "") == extra:
            names.append(re.split(r"[^\w.-]", requirement)[0])
    return [name for name in dict.fromkeys(names) if not installed(name)]
