"""`elmo NAME` and `allennlp elmo-NAME` are the same commands, with the same errors."""

import argparse
import json
import logging
import re
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.common.plugins import discover_plugins

from elmo_plugin import __version__
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands import embed
from elmo_plugin.commands.command import COMMANDS, WITH_ALLENNLP, load_command
from elmo_plugin.commands.main import main
from elmo_plugin.commands.stops import Stops
from elmo_plugin.language_model import measure_perplexity
from tests.commands.run import run as run_in_allennlp
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training
from tests.without_allennlp import BLOCK_ALLENNLP

WITHOUT_ALLENNLP = (
    BLOCK_ALLENNLP
    + """
import json
import logging
from elmo_plugin.commands.main import main
for arguments in json.loads(sys.argv[1]):
    main(arguments)
"""
)


def run(*commands: list[str]) -> str:
    """Runs commands in a process that cannot import AllenNLP; returns what they print."""
    program = [sys.executable, "-c", WITHOUT_ALLENNLP, json.dumps(commands)]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_a_text_is_embedded_and_scored_without_allennlp(tmp_path: Path) -> None:
    archive, text = str(write_training(tmp_path / "run", random_bilm())), str(tmp_path / "text.txt")
    Path(text).write_text("The play ended .\nHello\n")
    output, cache = str(tmp_path / "vectors.hdf5"), str(tmp_path / "cache")
    printed = run(
        ["embed", text, output, "--bilm", "tiny", "--all"],
        ["perplexity", archive, text, "--cache-directory", cache],
    )
    expected = BiLm.from_pretrained("tiny").embed([["The", "play", "ended", "."], ["Hello"]])
    with h5py.File(output) as file:
        for number, layers in enumerate(expected):
            np.testing.assert_allclose(file[str(number)][...], layers.numpy(), atol=1e-6)
    assert f"\nperplexity: {measure_perplexity(archive, [text])['perplexity']:,.3f}\n" in printed


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (
            "allennlp.models",
            ["--mix", "model.tar.gz"],
            r"the mixture of a trained model needs AllenNLP: pip install 'elmo_plugin\[allennlp\]', then",
        ),
        ("spacy", ["--bilm", "tiny", "--top", "--tokenizer", "spacy"], r"install elmo_plugin\[spacy\]$"),
    ],
)
def test_what_needs_a_package_that_is_missing_says_which(
    module: str, options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text("Hello\n")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit, match=rf"^elmo embed: .*{message}"):
        main(["embed", str(tmp_path / "text.txt"), str(tmp_path / "vectors.hdf5"), *options])
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_export_writes_the_published_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "tiny", str(tmp_path / "exported"), "--no-softmax"])
    assert "with no softmax" in capsys.readouterr().out
    assert json.loads((tmp_path / "exported" / "options.json").read_text())["lstm"]["projection_dim"] == 128
    exported = BiLm.from_files(tmp_path / "exported" / "options.json", tmp_path / "exported" / "weights.hdf5")
    assert exported.digest() == BiLm.from_pretrained("tiny").digest()


def test_a_mistake_of_the_user_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^elmo export: biLM not found: huge is .*; the names are tiny"):
        main(["export", "huge", str(tmp_path)])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_it_learns_what_was_kept(
    number: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has none
    monkeypatch.setattr(embed, "embed_file", lambda *args, **options: signal.raise_signal(number))
    output = tmp_path / "out.hdf5"
    arguments = ["embed", "text.txt", str(output), "--bilm", "tiny", "--top"]
    try:
        with pytest.raises(SystemExit, match=f"^{128 + number}$"):
            main(arguments)
        assert capsys.readouterr().err == "\nelmo embed: stopped; nothing was written\n"
        Path(f"{output}.unfinished").mkdir()
        kept = f"{output}.unfinished keeps what was done; the same command resumes it"
        with pytest.raises(SystemExit, match=f"^{128 + number}$"):
            main(arguments)
        assert capsys.readouterr().err == f"\nelmo embed: stopped; {kept}\n"
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("ending", [None, BiLmError("no"), KeyboardInterrupt(), ZeroDivisionError()])
def test_however_a_command_ends_sigterm_does_what_it_did_before(
    ending: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that stays reaches forked workers, which can then wait for ever."""

    def run(args: argparse.Namespace) -> None:
        handler: Any = signal.getsignal(signal.SIGTERM)
        assert isinstance(handler.__self__, Stops)
        if ending is not None:
            raise ending

    monkeypatch.setattr(embed, "COMMAND", embed.COMMAND._replace(run=run))
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with nullcontext() if ending is None else pytest.raises((SystemExit, ZeroDivisionError)):
            main(["embed", "text.txt", "out.hdf5", "--bilm", "tiny", "--top"])
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_command_that_needs_allennlp_says_so_where_it_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(sys.modules, "allennlp.common.plugins", None)
    for name in WITH_ALLENNLP:
        with pytest.raises(SystemExit, match=rf"^elmo {name} needs AllenNLP: pip install"):
            main([name, "--help"])
    with pytest.raises(SystemExit):
        main(["--help"])
    marked = {line.split()[0] for line in capsys.readouterr().out.splitlines() if "needs AllenNLP)" in line}
    assert marked == WITH_ALLENNLP.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_the_same_options_under_both_names(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allennlp.common.plugins.import_plugins", lambda: None)
    found = []
    for program in (main, run_as_allennlp):
        with pytest.raises(SystemExit, match="0"):
            program([name, "--help"])
        found.append(capsys.readouterr().out)
    options = [set(re.findall(r"--[a-z][a-z-]*", text)) for text in found]
    assert options[0] == options[1]
    assert " ".join(load_command(name).description.split()) in " ".join(found[0].split())


def run_as_allennlp(arguments: list[str]) -> None:
    run_in_allennlp(*arguments)


def test_elmo_runs_a_command_that_needs_allennlp_and_names_its_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = []
    monkeypatch.setattr("allennlp.common.plugins.import_plugins", lambda: imported.append("plugins"))
    (tmp_path / "tagged.txt").write_text("Ada B-PER B-PER\n")
    main(["score", "ner", str(tmp_path / "tagged.txt"), "--json", str(tmp_path / "scores.json")])
    assert "accuracy: 100.00%" in capsys.readouterr().out and (tmp_path / "scores.json").exists()
    assert imported == ["plugins"], "those of the user's project, too"
    with pytest.raises(SystemExit, match=r"^elmo score: .*absent.txt"):
        main(["score", "ner", str(tmp_path / "absent.txt")])
    with pytest.raises(SystemExit, match=r"^elmo sweep: a metric is its name after"):
        main(["sweep", str(write_config(tmp_path)), "-s", str(tmp_path / "runs"), "--metric", "accuracy"])


def write_config(folder: Path) -> Path:
    (folder / "config.json").write_text('{"dataset_reader": {}}')
    return folder / "config.json"


@pytest.mark.parametrize(
    ("place", "message"),
    [(".", "is a directory; name a file to be written"), ("text.txt/out", "text.txt is not a folder")],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ["perplexity", "absent.tar.gz", "text.txt", "--json"],
        ["perplexity", "absent.tar.gz", "text.txt", "--per-sentence"],
        ["average", "absent.tar.gz", "absent.tar.gz", "-o"],
        ["neighbors", "absent", "text.txt", "a", "--json"],
        ["answer", "absent.tar.gz", "absent.json", "-o"],
        ["ensemble", "absent.tar.gz", "-o"],
        ["weights", "absent.tar.gz", "--json"],
        ["sweep", "absent.jsonnet", "-s", "runs", "--plot"],
        ["score", "ner", "absent.txt", "--json"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(
    arguments: list[str], place: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").touch()
    with pytest.raises(ConfigurationError, match=f"^{arguments[-1]}: {tmp_path}/?.*{message}"):
        run_in_allennlp(*arguments, tmp_path / place)


@pytest.mark.parametrize(
    "arguments",
    [
        ["perplexity", "absent.tar.gz", "INPUT", "--json", "LINK"],
        ["perplexity", "INPUT", "absent.txt", "--per-sentence", "LINK"],
        ["average", "absent.tar.gz", "INPUT", "-o", "LINK"],
        ["neighbors", "tiny", "INPUT", "a", "--json", "LINK"],
        ["answer", "absent.tar.gz", "INPUT", "-o", "LINK"],
        ["answer", "INPUT", "absent.json", "-o", "LINK"],
        ["ensemble", "INPUT", "-o", "LINK"],
        ["weights", "INPUT", "--json", "LINK"],
        ["sweep", "INPUT:variant", "-s", "runs", "--json", "LINK"],
        ["score", "ner", "INPUT", "--json", "LINK"],
        ["probe", "tiny", "absent.txt", "INPUT", "--json", "LINK"],
        ["senses", "tiny", "absent.jsonl", "INPUT", "--json", "LINK"],
        ["demo", "absent", "--input", "INPUT", "--export", "LINK"],
        ["embed", "INPUT", "LINK", "--all", "--bilm", "tiny", "--format", "hdf5"],
        ["vocab", "INPUT", "-o", "LINKED"],
        ["export", "FOLDER", "FOLDER"],
    ],
    ids=" ".join,
)
def test_an_output_that_is_an_input_is_refused_before_anything_is_read(
    arguments: list[str], tmp_path: Path
) -> None:
    for file in ("input", "options.json", "weights.hdf5"):
        (tmp_path / file).write_text("{}")
    for link in ("link", "linked.corpus.json"):
        (tmp_path / link).hardlink_to(tmp_path / "input")
    names = {"INPUT": "input", "LINK": "link", "LINKED": "linked", "FOLDER": "."}
    given = []
    for argument in arguments:
        name, colon, variant = argument.partition(":")
        given.append(f"{tmp_path / names[name]}{colon}{variant}" if name in names else argument)
    with pytest.raises(ConfigurationError, match=r"^[-\w]+ would replace .*, which is an input \("):
        run_in_allennlp(*given)
    assert {(tmp_path / name).read_text() for name in ("input", "options.json", "weights.hdf5")} == {"{}"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["weights", "absent.tar.gz", "--json", "PLACE"],
        ["embed", "absent.txt", "PLACE", "--all", "--bilm", "tiny"],
        ["vocab", "absent.txt", "-o", "PLACE"],
        ["export", "tiny", "PLACE"],
        ["sweep", "absent.jsonnet", "-s", "PLACE"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_home_of_nobody_is_no_folder(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = "~nosuchuser/x.hdf5"
    with pytest.raises(ConfigurationError, match=r": ~nosuchuser/x.*: there is no user nosuchuser; write"):
        run_in_allennlp(*(place if argument == "PLACE" else argument for argument in arguments))
    assert not list(tmp_path.iterdir())


def test_no_archive_is_replaced_by_json(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"\x1f\x8b")
    for command in (["weights", "b.tar.gz", "--json"], ["answer", "b.tar.gz", "data.json", "-o"]):
        with pytest.raises(ConfigurationError, match=r"would replace .*a\.tar\.gz, which is not JSON"):
            run_in_allennlp(*command, tmp_path / "a.tar.gz")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["embet", "text.txt"]])
def test_the_list_of_commands_imports_no_torch(arguments: list[str]) -> None:
    program = (
        "import sys; from elmo_plugin.commands.main import main\n"
        f"try: main({arguments})\n"
        "finally: assert 'torch' not in sys.modules"
    )
    process = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert "AssertionError" not in process.stderr
    expected = {"--help": "Perplexity of text", "--version": __version__, "embet": "invalid choice: 'embet'"}
    assert expected[arguments[0]] in process.stdout + process.stderr


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"elmo_plugin {__version__}\n"


def test_a_mistake_is_allennlps_error_in_its_command(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="biLM not found: huge"):
        run_in_allennlp("export", "huge", tmp_path)


def test_its_help_says_where_allennlp_knows_the_same_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    words = " ".join(capsys.readouterr().out.split())
    file, line = re.findall(r"whose file (\S+) has the line (\S+),", words)[0]
    (tmp_path / file).write_text(f"{line}\n")
    monkeypatch.chdir(tmp_path)
    assert line in list(discover_plugins())


@pytest.mark.parametrize("option", [(), ("--quiet",), ("--verbose",)])
def test_quiet_hides_progress_and_keeps_what_is_printed(
    option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("a b\n")
    paths = str(tmp_path / "text"), str(tmp_path / "vectors.hdf5")
    main([*option, "embed", *paths, "--all", "--bilm", "tiny"])
    printed = capsys.readouterr()
    assert bool(printed.err) is (option != ("--quiet",)), printed.err
    assert logging.getLogger("elmo_plugin").level == logging.NOTSET


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_the_options_of_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit) as end:
        main(["--print-completion", shell])
    script = capsys.readouterr().out
    assert end.value.code in (0, None)
    for word in ("perplexity", "sweep", "--no-softmax", "--fractions"):
        assert word in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_completion_without_shtab_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    assert capsys.readouterr().err == (
        "elmo: --print-completion needs the package shtab: install elmo_plugin[completion]\n"
    )
