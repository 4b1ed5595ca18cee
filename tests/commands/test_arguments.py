"""The arguments of all commands: one meaning for each name, and help that imports nothing large."""

import argparse
import json
import shlex
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest

from elmo_plugin.commands.command import COMMANDS
from elmo_plugin.commands.parser import make_parser, parse_arguments
from tests.conftest import REPOSITORY

METAVARS = "ARCHIVE BILM CONFIG DIR FILE FOLDER OLD OUTPUT PATH TASK TEST TEXT TRAIN WORD"
EXCEPTIONS = {  # a command's option that differs from the same option of others, and why
    ("embed", "--device"): "several GPUs share a text",
    ("import", "-o"): "it writes a folder that must not be there",
    ("import", "--output"): "it writes a folder that must not be there",
    ("import", "--dry-run"): "nothing is trained",
    ("embed", "--column"): "texts are all that it reads of a table, so their column needs no role",
    ("predict", "--workers"): "one process by default, and only for a file with -o",
    ("import", "--language"): "only texts with marked characters are split",
    ("new", "--language"): "it also splits raw text into sentences",
    ("port", "--trust"): "Jsonnet may read files",
}
WITHOUT_LIBRARIES = """
import contextlib, io, json, sys
for name in ("torch", "allennlp", "numpy", "h5py"):
    sys.modules[name] = None
from elmo_plugin.commands.main import main
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main(arguments)
    print(json.dumps(printed.getvalue()))
"""


def actions(name: str) -> list[argparse.Action]:
    return make_parser(COMMANDS[name])._actions


def test_an_option_means_the_same_in_every_command() -> None:
    found: dict[str, dict[tuple[Any, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for command in COMMANDS:
        for action in actions(command):
            for option in action.option_strings:
                if (command, option) not in EXCEPTIONS:
                    about = str(action.help).removesuffix(" (default: %(default)s)")
                    meaning = (about, action.metavar, action.type, tuple(action.choices or ()))
                    found[option][meaning].append(command)
    assert {option: dict(each) for option, each in found.items() if len(each) > 1} == {}


def test_every_argument_has_help_and_a_known_metavar() -> None:
    for command in COMMANDS:
        for action in actions(command):
            assert action.help, (command, action.dest)
            assert action.option_strings or action.metavar in METAVARS.split(), (
                command,
                action.metavar,
            )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_are_command_lines(name: str) -> None:
    examples = COMMANDS[name].examples
    assert len(examples) >= 2
    for example in examples:
        words = shlex.split(example.partition(" < ")[0].partition(" > ")[0])
        if words[0] == "elmo":
            assert words[1] == name
            parse_arguments(make_parser(COMMANDS[name]), words[2:])


def test_help_and_errors_import_no_heavy_library() -> None:
    calls = [
        ["help"],
        ["-V"],
        *([name, "--help"] for name in COMMANDS),
        ["predict", "no.tar.gz", "a"],
    ]
    program = [sys.executable, "-c", WITHOUT_LIBRARIES, json.dumps(calls)]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    printed = [json.loads(line) for line in process.stdout.splitlines()]
    assert all(COMMANDS[name].summary in printed[0] for name in COMMANDS)
    for name, text in zip(COMMANDS, printed[2:-1], strict=True):
        assert text.startswith(f"usage: elmo {name} ") and "\nexamples:\n  " in text
    assert process.stderr == "elmo predict: archive not found: no.tar.gz\n"
