"""The commands in `docs/results` can be typed today."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import elmo_plugin.plugin  # noqa: F401 (registers what configurations name)
from elmo_plugin.commands.parser import parse
from elmo_plugin.config_check import mistakes
from elmo_plugin.sweeps.trainings import find_trainings
from tests.conftest import REPOSITORY

REMOVED = ("precision", "train_peer", "train_recipes")
"""Programs that benchmarks/README.md finds in git."""


def recorded_commands(results: Any) -> Iterator[str]:
    for key, value in results.items() if isinstance(results, dict) else enumerate(results):
        if key == "command":
            yield from value.split(" && ")
        elif isinstance(value, dict | list):
            yield from recorded_commands(value)


COMMANDS = sorted(
    {
        command
        for path in (REPOSITORY / "docs" / "results").rglob("*.json")
        for command in recorded_commands(json.loads(path.read_text(encoding="utf-8")))
    }
)


@pytest.mark.parametrize(
    "step",
    [pytest.param(16, marks=pytest.mark.short), pytest.param(1, marks=pytest.mark.slow)],
)
def test_sweeps_name_existing_valid_configurations(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    sweeps = [command for command in COMMANDS if "elmo-sweep" in command or "elmo sweep" in command]
    parsed = [
        parse(shlex.split(command.replace("allennlp elmo-", "elmo "))[1:])[1] for command in sweeps
    ]
    configurations = {(config, args.overrides) for args in parsed for config in args.configs}
    assert len(configurations) > 50
    for config, overrides in sorted(configurations)[::step]:
        for training in find_trainings([config], tmp_path, [1], overrides):
            assert mistakes(training.config) == [], config


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith("python ")])
def test_a_program_of_a_result_is_here_or_its_page_says_where(command: str) -> None:
    program = shlex.split(command)[1]
    if not any(f"benchmarks/{name}.py" == program for name in REMOVED):
        assert program == "-m" or (REPOSITORY / program).is_file()
