"""Command lines of `elmo`: what is meant by them, and what is said about wrong ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.subcommand import Subcommand

from elmo_plugin import __version__
from elmo_plugin.commands.command import COMMANDS, Command
from elmo_plugin.commands.main import main
from elmo_plugin.commands.options import seeds
from elmo_plugin.commands.parser import make_parser, parse
from elmo_plugin.common.meanings import meanings


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    """Returns the status of a call, and what it printed."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capsys.readouterr()
    return end.value.code, printed.out, printed.err


@pytest.mark.parametrize("arguments", [[], ["help"], ["-h"]])
def test_the_list_of_commands_is_the_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = ended(capsys, *arguments)
    assert not status and "\nLook closer:\n  weights " in out


@pytest.mark.parametrize("arguments", [["-V"], ["-q", "embed", "--version"]])
def test_the_version_may_be_asked_anywhere(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(capsys, *arguments)[:2] == (0, f"elmo_plugin {__version__}\n")


def test_help_about_a_command_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys, "help", "embed")[1] == ended(capsys, "embed", "--help")[1]


@pytest.mark.parametrize(
    ("arguments", "usage", "message"),
    [
        (["embde", "a.txt"], "elmo embed ", "elmo: unknown command embde; did you mean embed?"),
        (
            ["train", "c.jsonnet"],
            "elmo COMMAND",
            "train; did you mean allennlp train config.jsonnet -s run?",
        ),
        (["list"], "elmo models ", "elmo: unknown command list; did you mean elmo models?"),
        (
            ["evaluate"],
            "elmo COMMAND",
            "allennlp evaluate model.tar.gz FILE or elmo score TASK FILE?",
        ),
        (["ner", "Ada."], "elmo predict ", "did you mean elmo predict ner TEXT?"),
        (["embed", "a", "b", "--gpu"], "elmo embed ", "option --gpu; did you mean --device cuda?"),
        (
            ["predict", "--model", "ner"],
            "elmo predict ",
            "option --model; give ARCHIVE without an option",
        ),
        (["embed", "--layers", "mean"], "elmo embed ", "did you mean --all, --top or --mean?"),
        (["embed", "-output", "b.npz"], "elmo embed ", "option -output; did you mean --output?"),
        (["score", "--gpu"], "elmo score ", "unknown option --gpu\n"),
        (["--bilm", "base", "embed"], "elmo COMMAND", "options of a command stand after its name"),
        (["xyz"], "elmo COMMAND", "elmo: unknown command xyz; `elmo help` lists them"),
        (
            ["embed", "a", "b", "--prec", "int8", "--top"],
            "elmo embed ",
            "unknown option --prec; did you",
        ),
        (["probe", "tiny", "a"], "elmo probe ", "required: TEST"),
        (["score", "nre", "a"], "elmo score ", "invalid choice: 'nre'"),
        (
            ["neighbors", "tiny", "a", "b", "-k", "0"],
            "elmo neighbors ",
            "expected a whole number, at least 1, got 0",
        ),
        (["--quite", "embed"], "elmo COMMAND", "unknown option --quite; did you mean --quiet?"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_call_names_what_was_meant(
    arguments: list[str], usage: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = ended(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"usage: {usage}") and message in err


def test_each_command_that_is_proposed_exists() -> None:
    for target, words in meanings()["commands"].items():
        assert not COMMANDS.keys() & set(words.split()), target
        for line in target.replace("TASK", "ner").split(" or "):
            program, name, *rest = line.split()
            if program == "allennlp":
                assert name in Subcommand.list_available()
            elif name not in ("help", "--version"):
                assert parse([name, *rest])[0] == COMMANDS[name]


def test_each_option_that_is_proposed_exists_and_takes_its_value() -> None:
    parsers = [make_parser(command) for command in COMMANDS.values()]
    for target in meanings()["options"]:
        name, _, value = target.partition(" ")
        found = [parser for parser in parsers if parser._has(target)]
        assert found, target
        for action in [
            each._option_string_actions[name] for each in found if value and "," not in target
        ]:
            assert action.nargs != 0 and value in (action.choices or [value]), target
            assert action.type is None or (callable(action.type) and action.type(value)), target


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "no.tar.gz", "text"],
        ["weights", "."],
        ["neighbors", "tiny", "no.txt", "word"],
        ["sweep", "no.jsonnet:variant", "-s", "runs"],
        ["port", "no.jsonnet"],
        ["score", "squad", "text.txt"],
        ["embed", "text.txt", "text.txt", "--top", "--bilm", "tiny"],
    ],
    ids=" ".join,
)
def test_a_wrong_file_has_status_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "text.txt").write_text("Hello\n")
    monkeypatch.chdir(tmp_path)
    status, _, err = ended(capsys, *arguments)
    assert status == 2 and err.startswith(f"elmo {arguments[0]}: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "json_path", "texts"),
    [
        (["--json", "ner", "a text"], "/dev/stdout", ["a text"]),
        (["ner", "a text", "--json", "-"], "/dev/stdout", ["a text"]),
        (["ner", "a text", "--json", "x.jsonl", "b"], "x.jsonl", ["a text", "b"]),
        (["ner", "--json=x", "a text"], "x", ["a text"]),
        (["ner", "--", "--json"], None, ["--json"]),
    ],
)
def test_json_takes_a_word_that_can_be_its_file(
    words: list[str], json_path: str | None, texts: list[str]
) -> None:
    command, args = parse(["predict", *words])
    assert (command.name, args.json, args.archive, args.texts) == (
        "predict",
        json_path,
        "ner",
        texts,
    )


@pytest.mark.parametrize("loud", ["-q", "--quiet", "-v", "--verbose"])
def test_quiet_and_verbose_stand_on_both_sides(loud: str) -> None:
    before, after = (parse(words)[1] for words in ([loud, "doctor"], ["doctor", loud]))
    assert before == after and before.quiet != before.verbose


@pytest.mark.parametrize(
    "device", ["cuda:99", "cuda:999999999999999999999", "gpu", "cuda:-1", "0", "CPU"]
)
@pytest.mark.parametrize(
    "arguments",
    [["predict", "ner", "Ada."], ["embed", "-", "a.npz"], ["senses", "tiny", __file__, __file__]],
    ids=lambda arguments: arguments[0],
)
def test_a_missing_gpu_is_found_before_anything_is_imported(
    arguments: list[str],
    device: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {
        name
        for name in COMMANDS
        if "--device" in make_parser(COMMANDS[name])._option_string_actions
    } == {*("predict", "embed", "neighbors", "perplexity", "probe", "senses")}
    monkeypatch.delattr("elmo_plugin.archives.import_all_plugins")
    monkeypatch.delattr(Command, "load")
    status, _, err = ended(capsys, *arguments, "--device", device)
    assert status == 2 and device in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1", [1]), ("3", [1, 2, 3]), ("3,7", [3, 7]), ("7,", [7]), ("0,2,0", [0, 2])],
)
def test_seeds_are_counted_or_listed(text: str, numbers: list[int]) -> None:
    assert seeds(text) == numbers


def test_standard_output_stands_for_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("The play ended .\nThey play .\n")
    main(["neighbors", "tiny", str(tmp_path / "text"), "a [play] .", "--json"])
    printed = capfd.readouterr()
    assert json.loads(printed.out)[0]["words"] == ["a", "play", "."], "JSON alone"
    assert "The [play] ended ." in printed.err
