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
    """The packages that some commands or options miss, and the command lines to install them."""

    missing: Sequence[str]
    command_lines: Sequence[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def run(args: argparse.Namespace) -> None:
    """Prints the report. Raises `SystemExit` with status 1 if a command cannot run."""
    from elmo_plugin.commands.command import COMMANDS

    show(f"Python {platform.python_version()}, {platform.platform()}")
    for package in ("elmo_plugin", "torch", "numpy", "allennlp"):
        show(f"{package} {installed_version(package) or 'missing'}")
    allennlp_commands = [name for name, command in COMMANDS.items() if command.needs == "allennlp"]
    allennlp_commands.append("new --data")  # without this option, `new` needs no AllenNLP
    remedies = {
        "every command": Remedy(missing_packages(extra=""), ["pip install elmo_plugin"]),
        " ".join(allennlp_commands): Remedy(_missing_for_allennlp(), INSTALL_ALLENNLP),
        "demo": _remedy_of_extra("demo"),
    }
    for subject, remedy in remedies.items():
        _show_remedy(subject, remedy)
    for extra, subject in OPTIONAL.items():
        _show_remedy(subject, _remedy_of_extra(extra))
    # The extras in `OPTIONAL` do not count, because each command can run without them.
    if any(remedy.missing for remedy in remedies.values()):
        sys.exit(1)
    show()
    show("every command can run")


def _missing_for_allennlp() -> list[str]:
    """Returns the missing packages for the commands that need AllenNLP."""
    packages = missing_packages("allennlp")
    # AllenNLP itself is not in the extra: some packages that it asks for have no build for this
    # version of Python. So the second line of `INSTALL_ALLENNLP` installs it without them.
    if not installed_version("allennlp"):
        packages.append("allennlp")
    return packages


def _remedy_of_extra(extra: str) -> Remedy:
    """Returns the missing packages of an extra, and the command line to install them."""
    return Remedy(missing_packages(extra), [f"pip install 'elmo_plugin[{extra}]'"])


def _show_remedy(subject: str, remedy: Remedy) -> None:
    """Prints how to install the packages that the subject, such as "demo", misses, if any."""
    if not remedy.missing:
        return
    show()
    show(f"{subject}: missing {', '.join(remedy.missing)}")
    for line in remedy.command_lines:
        show(f"    {line}")


def installed_version(package: str) -> str:
    """Returns the version of a package, without importing it, or "" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def missing_packages(extra: str) -> list[str]:
    """Returns the packages of `required_packages` that are not installed."""
    return [name for name in required_packages(extra) if not installed_version(name)]


def required_packages(extra: str) -> list[str]:
    """
    Returns the packages that an extra of `elmo_plugin` needs with this version of Python. If
    `extra` is empty, returns the packages that are always needed. Raises `BiLmError` if
    `elmo_plugin` itself is not installed.
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
        # Such as `tomli>=2; python_version < '3.11' and extra == 'dev'`.
        requirement, _, marker = line.partition(";")
        if _extra_in(marker) != extra or _is_for_older_python(marker):
            continue
        name_and_versions = re.split(r"[^\w.-]", requirement)
        name = name_and_versions[0]
        if name not in names:  # a package may have a line for each of several versions of Python
            names.append(name)
    return names


def _extra_in(marker: str) -> str:
    """Returns the extra in the marker of a requirement, or "" if the package is always needed."""
    found = re.search("extra == ['\"](.*)['\"]", marker)
    if found is None:
        return ""
    return found[1]


def _is_for_older_python(marker: str) -> bool:
    """Returns whether the marker of a requirement excludes this version of Python."""
    limit = re.search(r"python_version < ['\"](\d+)\.(\d+)['\"]", marker)
    return limit is not None and sys.version_info >= (int(limit[1]), int(limit[2]))
