"""Print the versions of packages, and which packages are missing for which command. Ends with
status 1 if a command cannot run.

    elmo doctor
    elmo doctor > report.txt
"""

import argparse
import platform
import re
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

from elmo_plugin.common.errors import INSTALL_ALLENNLP, BiLmError
from elmo_plugin.common.streams import show

OPTIONAL = {
    "download": "models by URL, and names such as original",
    "transformers": "AllenNLP's parts that no task here uses, as pretrained_transformer",
    "figures": "weights --plot",
    "cluster": "embed --dask, sweep --dask and --workers",
}
"""Extras of the package, and the options that need them."""


class Remedy(NamedTuple):
    """Packages that are missing, and the lines that install them."""

    packages: Sequence[str]
    lines: Sequence[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def run(args: argparse.Namespace) -> None:
    """Prints the report. Raises `SystemExit` with status 1 if a command cannot run."""
    from elmo_plugin.commands.command import COMMANDS

    show(f"Python {platform.python_version()}, {platform.platform()}")
    for package in ("elmo_plugin", "torch", "numpy", "allennlp"):
        show(f"{package} {installed(package) or 'missing'}")
    missing_for_allennlp = missing("allennlp")
    # The extra "allennlp" is without AllenNLP itself, which requires older versions of packages.
    if not installed("allennlp"):
        missing_for_allennlp.append("allennlp")
    commands_of_allennlp = [command.name for command in COMMANDS.values() if command.needs_allennlp]
    commands_of_allennlp.append("new --data")  # without this option, `new` needs no AllenNLP
    remedies = {
        "every command": Remedy(missing(extra=""), ["pip install elmo_plugin"]),
        " ".join(commands_of_allennlp): Remedy(missing_for_allennlp, INSTALL_ALLENNLP),
        "demo": Remedy(missing("demo"), ["pip install 'elmo_plugin[demo]'"]),
    }
    for about, remedy in remedies.items():
        _show_remedy(about, remedy)
    for extra, about in OPTIONAL.items():
        _show_remedy(about, Remedy(missing(extra), [f"pip install 'elmo_plugin[{extra}]'"]))
    if any(remedy.packages for remedy in remedies.values()):
        sys.exit(1)
    show()
    show("every command can run")


def _show_remedy(about: str, remedy: Remedy) -> None:
    """Prints the packages that are missing for some commands or options, and their installation."""
    if not remedy.packages:
        return
    show()
    show(f"{about}: missing {', '.join(remedy.packages)}")
    for line in remedy.lines:
        show(f"    {line}")


def installed(package: str) -> str:
    """Returns the version of a package, without importing it, or an empty string."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def missing(extra: str) -> list[str]:
    """Returns the packages of `required` that are not installed."""
    return [name for name in required(extra) if not installed(name)]


def required(extra: str) -> list[str]:
    """
    Returns the packages that an extra needs with this version of Python. For an empty name, these
    are packages that `elmo_plugin` always needs. Raises `BiLmError` if it is not installed.
    """
    try:
        lines = requires("elmo_plugin") or []
    except PackageNotFoundError:
        raise BiLmError(
            "elmo_plugin is only on Python's path, so it is unknown which packages it needs: "
            "pip install elmo_plugin"
        ) from None
    names = []
    for line in lines:
        requirement, _, marker = line.partition(";")
        in_marker = re.search("extra == ['\"](.*)['\"]", marker)
        extra_of_requirement = ""  # always needed
        if in_marker is not None:
            extra_of_requirement = in_marker[1]
        if extra_of_requirement == extra and not _is_for_older_python(marker):
            name, *_ = re.split(r"[^\w.-]", requirement)  # without the versions
            names.append(name)
    return list(dict.fromkeys(names))


def _is_for_older_python(marker: str) -> bool:
    """Returns whether the marker of a requirement excludes this version of Python."""
    limit = re.search(r"python_version < ['\"](\d+)\.(\d+)['\"]", marker)
    return limit is not None and sys.version_info >= (int(limit[1]), int(limit[2]))
