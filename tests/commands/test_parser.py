"""Command lines of `elmo`: what is meant by them, and what is said about wrong ones."""

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.subcommand import Subcommand

from elmo_plugin import __version__
from elmo_plugin.bilm.io import MODELS
from elmo_plugin.commands.command import COMMANDS, Command
from elmo_plugin.commands.main import main
from elmo_plugin.commands.options import BILM_NAMES, is_column_number, seeds
from elmo_plugin.commands.parser import make_parser, parse
from elmo_plugin.commands.suggestions import fits
from elmo_plugin.common.meanings import meanings


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    """Returns the status of a call, and what it printed."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capsys.readouterr()
    return end.value.code, printed.out, printed.err


@pytest.mark.parametrize("arguments", [[], ["help"], ["-h"]])
def test_help_lists_the_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = ended(capsys, *arguments)
    assert not status and "\nLook closer:\n  weights " in out


@pytest.mark.parametrize("arguments", [["-V"], ["-q", "embed", "--version"]])
def test_the_version_option_works_anywhere(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(capsys, *arguments)[:2] == (0, f"elmo_plugin {__version__}\n")


def test_help_with_a_commands_name_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys, "help", "embed")[1] == ended(capsys, "embed", "--help")[1]


WRONG_LINES = {
    "embde a.txt": ("elmo: unknown command embde", "Did you mean embed?"),
    "train c.jsonnet": (
        "elmo: unknown command train",
        "Did you mean allennlp train config.jsonnet -s run?",
    ),
    "list": ("elmo: unknown command list", "Did you mean elmo models?"),
    "evaluate": (
        "elmo: unknown command evaluate",
        "Did you mean allennlp evaluate model.tar.gz FILE or elmo score TASK FILE?",
    ),
    "ner Ada.": ("elmo: unknown command ner", "Did you mean elmo predict ner TEXT?"),
    "run ner": ("elmo: unknown command run", "Did you mean elmo predict ner TEXT?"),
    "'A text.'": ("elmo: unknown command A text.", "Did you mean elmo predict ner TEXT?"),
    "uninstall": (
        "elmo: unknown command uninstall",
        "The command pip uninstall elmo_plugin removes this package.",
    ),
    "cache clear": ("elmo: unknown command cache", "The variable ELMO_PLUGIN_CACHE names "),
    "xyz": ("elmo: unknown command xyz", "`elmo help` lists the commands."),
    "help xyz": ("elmo: unknown command xyz", "`elmo help` lists the commands."),
    "--quite embed": ("elmo: unknown option --quite", "Did you mean --quiet?"),
    "--bilm base embed": (
        "elmo: unknown option --bilm",
        "The options of a command stand after its name.",
    ),
    "--bilm=base embed": (
        "elmo: unknown option --bilm",
        "The options of a command stand after its name.",
    ),
    "embed a b --gpu": ("elmo embed: unknown option --gpu", "Did you mean --device cuda?"),
    "embed a b -gpu": ("elmo embed: unknown option -gpu", "Did you mean --device cuda?"),
    "embed --layers mean": (
        "elmo embed: unknown option --layers",
        "Did you mean --all, --top or --mean?",
    ),
    "embed --input=a --out=b": (
        "elmo embed: unknown option --input",
        "Give TEXT without an option.",
    ),
    "embed -output b.npz": ("elmo embed: unknown option -output", "Did you mean --output?"),
    "embed a b --prec int8": ("elmo embed: unknown option --prec", "Did you mean --precision?"),
    "embed base t.txt v.h5": (
        "elmo embed: too many arguments: v.h5",
        "The biLM is an option: elmo embed TEXT OUTPUT --bilm BILM.",
    ),
    "embed a b --dask": ("elmo embed: expected --dask ADDRESS, got no value", "An example is "),
    "predict --model ner": (
        "elmo predict: unknown option --model",
        "Give ARCHIVE without an option.",
    ),
    "predict ner a --html": (
        "elmo predict: unknown option --html",
        "HTML is written by elmo predict ARCHIVE TEXT -o FILE.html.",
    ),
    "perplexity b t --threads 2": (
        "elmo perplexity: unknown option --threads",
        "This command runs in one process, ",
    ),
    "embed a b --resume": (
        "elmo embed: unknown option --resume",
        "The same command resumes elmo e",
    ),
    "embed a b --pooling mean": (
        "elmo embed: unknown option --pooling",
        "Did you mean --per-protein?",
    ),
    "predict sst a --column text": (
        "elmo predict: unknown option --column",
        "The column of texts is found by its name, ",
    ),
    "predict ner a --language de": (
        "elmo predict: unknown option --language",
        "A trained model knows its language: ",
    ),
    "sweep c.jsonnet -s runs --metric -loss": (
        "elmo sweep: unknown option -loss",
        "Did you mean --metric=-loss?",
    ),
    "score --gpu": (
        "elmo score: unknown option --gpu",
        "An example is elmo score squad dev.json answers.json; `elmo help score` explains",
    ),
    "models original": ("elmo models: too many arguments: original", "It lists all models; "),
    "new bilm lm file.txt": (
        "elmo new: too many arguments: file.txt",
        "Your own files are an option: elmo new TASK FOLDER --data FILE.",
    ),
    "new bilm lm --size small": (
        "elmo new: unknown option --size",
        "Sizes are in config.jsonnet of the project ",
    ),
    "probe tiny a": ("elmo probe: the following arguments are required: TEST", "An example is "),
}
"""Two lines that answer each command line: what is wrong, and how the advice begins."""


@pytest.mark.parametrize("line", WRONG_LINES)
def test_a_wrong_command_line_is_explained_and_corrected(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = ended(capsys, *shlex.split(line))
    assert (status, out) == (2, "")
    mistake, advice = WRONG_LINES[line]
    printed = err.splitlines()
    assert printed[0] == mistake
    assert printed[1].startswith(advice)
    assert len(printed) == 2


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("embed", "--threshold"),
        ("embed", "--margin"),
        ("predict", "--update"),
        ("probe", "--pos"),
    ],
)
def test_a_dissimilar_option_is_not_suggested(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(capsys, command, "a", "b", option)[2].splitlines()[1].startswith("An example is ")


@pytest.mark.parametrize(
    ("typed", "meant"), [("pos", "tag"), ("sentiment", "sst"), ("language-model", "bilm")]
)
def test_a_task_name_of_other_programs_suggests_our_project(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = ended(capsys, "new", typed, "folder")
    assert status == 2 and f"got {typed}; did you mean {meant}?" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "nre", "a"], "got nre; did you mean ner?"),
        (["import", "pos", "a"], "got pos; did you mean tag?"),
        (["neighbors", "tiny", "a", "b", "-k", "0"], "expected a whole number, at least 1, got 0"),
    ],
)
def test_a_wrong_value_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = ended(capsys, *arguments)
    assert status == 2 and message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "Ada moved"], "name a model before a text, as in elmo predict ner TEXT"),
        (["embed", "base"], "base is a biLM: elmo embed TEXT OUTPUT --bilm base"),
        (["embed", "A text."], "name a file of text, or - and pipe the text: echo TEXT | elmo "),
    ],
)
def test_a_text_given_in_place_of_a_file_is_recognized(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = ended(capsys, *arguments, "out.npz")
    assert status == 2 and message in err and err.count("\n") == 1


def test_a_sentence_in_place_of_a_text_gets_no_hint_at_another_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, _, err = ended(capsys, "perplexity", "tiny", "A text.")
    hint = "name a file of text, or - and pipe the text"
    assert status == 2 and err == f"elmo perplexity: text not found: A text.; {hint}\n"


def test_names_of_bilms_are_known_without_torch() -> None:
    assert set(BILM_NAMES) == set(MODELS)


def test_every_suggested_command_exists() -> None:
    for target, words in meanings()["commands"].items():
        assert not COMMANDS.keys() & set(words.split()), target
        if target.endswith("."):  # a sentence
            continue
        for line in target.replace("TASK", "ner").split(" or "):
            program, name, *rest = line.split()
            if program == "allennlp":
                assert name in Subcommand.list_available()
            elif name not in ("help", "--version"):
                assert parse([name, *rest])[0] == COMMANDS[name]


def test_every_suggested_option_exists_and_accepts_its_value() -> None:
    parsers = [make_parser(command) for command in COMMANDS.values()]
    for target in meanings()["options"]:
        if target.endswith("."):  # a sentence
            continue
        name, _, value = target.partition(" ")
        found = [
            parser for parser in parsers if fits(target, parser.options, parser.argument_names)
        ]
        assert found, target
        for action in [
            each._option_string_actions[name] for each in found if value and "," not in target
        ]:
            assert action.nargs != 0 and value in (action.choices or [value]), target
            assert action.type is None or (callable(action.type) and action.type(value)), target


def test_errors_about_too_many_arguments_suggest_valid_command_lines() -> None:
    for name, sentence in meanings()["too many arguments"].items():
        line = re.search(rf"elmo {name} [^.,;]*(?<![.,; ])", sentence)
        assert line is not None, sentence
        words = line[0].partition(" prints")[0].replace("TASK", "ner").replace("NAME", "ner")
        assert parse(shlex.split(words)[1:])[0] == COMMANDS[name]


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
def test_a_wrong_file_exits_with_status_2(
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
        (["--json", "-", "ner", "a text"], "/dev/stdout", ["a text"]),
        (["ner", "a text", "--json", "-"], "/dev/stdout", ["a text"]),
        (["ner", "a text", "--json", "x", "b"], "x", ["a text", "b"]),
        (["ner", "--json", "x", "a text"], "x", ["a text"]),
        (["ner", "--json=x", "a text"], "x", ["a text"]),
        (["ner", "--", "--json"], None, ["--json"]),
    ],
)
def test_json_takes_a_file_and_options_may_come_anywhere(
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
def test_quiet_and_verbose_work_before_and_after_the_command(loud: str) -> None:
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
    monkeypatch.delattr(Command, "import_packages")
    status, _, err = ended(capsys, *arguments, "--device", device)
    assert status == 2 and device in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1", [1]), ("3", [1, 2, 3]), ("3,7", [3, 7]), ("7,", [7]), ("0,2,0", [0, 2])],
)
def test_seeds_are_counted_or_listed(text: str, numbers: list[int]) -> None:
    assert seeds(text) == numbers


@pytest.mark.parametrize("text", [",", "3,x", "3,-7", "3,1.5"])
def test_a_list_without_seeds_or_with_something_else_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected whole numbers"):
        seeds(text)


@pytest.mark.parametrize("text", ["0", "12", "-1"])
def test_a_column_may_be_given_by_its_number(text: str) -> None:
    assert is_column_number(text) and str(int(text)) == text


@pytest.mark.parametrize("text", ["", "-", "--3", "3-", "word", "1.5", "²", "-x"])
def test_other_texts_are_names_of_columns(text: str) -> None:
    assert not is_column_number(text)


@pytest.mark.parametrize("command", [["new", "bilm", "project", "--data"], ["import", "ner"]])
def test_a_column_with_two_minus_signs_is_an_error(
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text("Ada B-PER\nmoved O\n\nBo B-PER\n")
    options = ["--column=--1"]
    if command[0] == "import":
        options = ["--column=word=--1", "--dry-run"]
    status, _, err = ended(capsys, *command, "train.txt", *options)
    assert status == 2 and "--column" in err and "--1" in err and err.count("\n") == 1


def test_standard_output_stands_for_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("The play ended .\nThey play .\n")
    main(["neighbors", "tiny", str(tmp_path / "text"), "a [play] .", "--json", "-"])
    printed = capfd.readouterr()
    assert json.loads(printed.out)[0]["words"] == ["a", "play", "."], "JSON alone"
    assert "The [play] ended ." in printed.err
