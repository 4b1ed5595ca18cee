"""`docs/hardening.md` lists everything that the plugin, the hardening and `quiet` replace in
AllenNLP.
"""

import argparse
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from allennlp.commands import Subcommand

from tests.conftest import REPOSITORY

# Compares all attributes of AllenNLP's modules and classes before and after each import, in a fresh
# process.
PROGRAM = """
import importlib, inspect, json, logging, sys
import elmo_plugin  # as elmo_plugin.pth does where the package is installed, in every process
from allennlp.common.util import import_module_and_submodules
import_module_and_submodules("allennlp", exclude={"allennlp.sanity_checks", "allennlp.tools"})

def attributes():
    found = {"sys.excepthook": sys.excepthook, "sys.meta_path": tuple(sys.meta_path)}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "allennlp":
            for attribute, value in list(vars(module).items()):
                found[f"{name}.{attribute}"] = value
                if inspect.isclass(value) and value.__module__ == name:
                    members = list(vars(value).items())
                    found |= {f"{name}.{attribute}.{member}": content for member, content in members}
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.startswith("allennlp"):
            found[f"filters of {name}"] = tuple(getattr(logger, "filters", ()))
    return found

replaced, before = {}, attributes()
for module in ("elmo_plugin.bilm", "elmo_plugin.plugin", "elmo_plugin.hardening", "elmo_plugin.quiet"):
    importlib.import_module(module)
    after, missing = attributes(), object()
    names = before.keys() | after.keys()
    same = lambda a, b: a is b or (type(a) is type(b) is tuple and a == b)
    replaced[module] = sorted(n for n in names if not same(before.get(n, missing), after.get(n, missing)))
    before = after
print(json.dumps(replaced))
"""
MOST_REPLACED = 12


@pytest.fixture(scope="module")
def replaced() -> dict[str, list[str]]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def documented(module: str) -> list[str]:
    """The first cells of those tables whose head names the module."""
    names: list[str] = []
    text = (REPOSITORY / "docs" / "hardening.md").read_text(encoding="utf-8")
    for table in text.split(f"\n| replaced by `{module}` |")[1:]:
        rows = table.split("\n\n")[0].splitlines()[2:]
        names += [re.fullmatch(r"\| `((?:allennlp|sys)\.\S+)` \| \S.* \|", row)[1] for row in rows]  # type: ignore[index]
    return sorted(names)


def test_functions_that_allennlp_binds_before_plugins_are_not_replaced() -> None:
    subparsers = argparse.ArgumentParser().add_subparsers()
    commands = [command for command, _ in Subcommand._registry[Subcommand].values()]
    theirs = [command for command in commands if command.__module__.startswith("allennlp.")]
    bound = [command().add_subparser(subparsers).get_default("func") for command in theirs]
    names = {f"{function.__module__}.{function.__name__}" for function in bound}
    assert "allennlp.commands.predict._predict" in names
    assert names.isdisjoint(documented("elmo_plugin.hardening"))


@pytest.mark.slow
def test_importing_the_bilm_changes_nothing(replaced: dict[str, list[str]]) -> None:
    assert replaced["elmo_plugin.bilm"] == []


@pytest.mark.slow
def test_the_plugin_replaces_only_what_a_current_torch_requires(
    replaced: dict[str, list[str]],
) -> None:
    assert replaced["elmo_plugin.plugin"] == documented("elmo_plugin.plugin") != []


@pytest.mark.slow
def test_hardening_replaces_exactly_what_is_documented(replaced: dict[str, list[str]]) -> None:
    assert replaced["elmo_plugin.hardening"] == documented("elmo_plugin.hardening") != []
    assert len(replaced["elmo_plugin.hardening"]) <= MOST_REPLACED


@pytest.mark.slow
def test_quiet_replaces_exactly_what_is_documented(replaced: dict[str, list[str]]) -> None:
    assert replaced["elmo_plugin.quiet"] == documented("elmo_plugin.quiet") != []
