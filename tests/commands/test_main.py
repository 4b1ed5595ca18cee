"""`elmo NAME` and `allennlp elmo-NAME` are the same commands, with the same errors."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin.commands.command import COMMANDS
from elmo_plugin.commands.main import Stop, _run, main
from elmo_plugin.common.files import write_json
from elmo_plugin.language_model import measure_perplexity
from tests.commands.run import run as run_in_allennlp
from tests.conftest import REPOSITORY
from tests.trained_bilm import random_bilm, write_training
from tests.without_allennlp import BLOCK_ALLENNLP

WITHOUT_ALLENNLP = (
    BLOCK_ALLENNLP
    + """
import json
from elmo_plugin.commands.main import main
for arguments in json.loads(sys.argv[1]):
    main(arguments)
"""
)


@pytest.mark.slow
def test_a_text_is_embedded_and_scored_without_allennlp(tmp_path: Path) -> None:
    archive, text = str(write_training(tmp_path / "run", random_bilm())), str(tmp_path / "text.txt")
    Path(text).write_text("The play ended .\nHello\n")
    output = str(tmp_path / "vectors.npz")
    commands = [["embed", text, output, "--bilm", "tiny"], ["perplexity", archive, text]]
    program = [sys.executable, "-c", WITHOUT_ALLENNLP, json.dumps(commands)]
    process = subprocess.run(program, cwd=REPOSITORY, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    with np.load(output) as arrays:
        assert arrays.files == ["0", "1"]
    assert (
        f"\nperplexity: {measure_perplexity(archive, [text])['perplexity']:,.3f}\n"
        in process.stdout
    )


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.txt").write_text("Hello\n")
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "allennlp.models", None)
    message = r"the mixture of a trained model needs AllenNLP: pip install 'elmo_plugin\[allennlp\]', then"
    with pytest.raises(SystemExit, match=rf"^elmo embed: .*{message}"):
        main(["embed", str(tmp_path / "text.txt"), str(tmp_path / "vectors.hdf5"), "--mix", "."])
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "config.json"}


def test_a_user_mistake_prints_one_sentence_in_elmo_and_raises_in_allennlp(tmp_path: Path) -> None:
    message = "biLM not found: huge is .*; the names are tiny"
    with pytest.raises(SystemExit, match=f"^elmo export: {message}"):
        main(["export", "huge", str(tmp_path)])
    with pytest.raises(ConfigurationError, match=message):
        run_in_allennlp("export", "huge", tmp_path)


def test_ctrl_c_and_system_errors_report_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("elmo_plugin.embed_files.embed_file", interrupt)
    output = tmp_path / "out.hdf5"
    (tmp_path / "text.txt").write_text("Hello\n")
    arguments = ["embed", str(tmp_path / "text.txt"), str(output), "--bilm", "tiny", "--top"]
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 128 + signal.SIGINT
    assert capsys.readouterr().err == "\nelmo embed: stopped; nothing was written\n"
    Path(f"{output}.unfinished").mkdir()
    kept = f"{output}.unfinished keeps the finished part; the same command resumes it"
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 128 + signal.SIGINT
    assert capsys.readouterr().err == f"\nelmo embed: stopped; {kept}\n"
    monkeypatch.setattr("elmo_plugin.embed_files.embed_file", lambda *_, **__: os.close(-1))
    with pytest.raises(SystemExit, match=rf"^elmo embed: .*Bad file descriptor; {kept}$"):
        main(arguments)


def test_a_stop_after_an_output_was_written_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.hdf5"

    def write_and_stop(*_: object, **__: object) -> None:
        write_json(output, "content")
        raise KeyboardInterrupt

    monkeypatch.setattr("elmo_plugin.embed_files.embed_file", write_and_stop)
    (tmp_path / "text.txt").write_text("Hello\n")
    for _ in range(2):  # it replaces nothing, and then a file
        with pytest.raises(SystemExit):
            main(["embed", str(tmp_path / "text.txt"), str(output), "--bilm", "tiny", "--top"])
        assert capsys.readouterr().err == f"\nelmo embed: stopped; {output} had been written\n"


def test_a_stop_that_came_too_late_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = Stop()

    def swallow_the_interrupt(*_: object, **__: object) -> bool:
        with pytest.raises(KeyboardInterrupt):
            stop._handle(signal.SIGTERM, None)
        return True

    monkeypatch.setattr("elmo_plugin.embed_files.embed_file", swallow_the_interrupt)
    (tmp_path / "text.txt").write_text("Hello\n")
    arguments = ["embed", str(tmp_path / "text.txt"), str(tmp_path / "out.npz"), "--bilm", "tiny"]
    with pytest.raises(SystemExit) as error:
        _run(arguments, stop, has_own_process=False)
    assert error.value.code == 128 + signal.SIGTERM
    message = "\nelmo embed: all was written before it could be stopped\n"
    assert capsys.readouterr().err == message


def test_a_command_reports_that_allennlp_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "allennlp.models", None)
    (tmp_path / "tagged.txt").write_text("Ada B-PER B-PER\n")
    with pytest.raises(
        SystemExit, match=r"^elmo score: this command needs AllenNLP: pip install"
    ) as error:
        main(["score", "ner", str(tmp_path / "tagged.txt")])
    assert error.value.code == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_the_same_options_under_both_names(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_plugin.shims.import_plugins", lambda _: None)
    monkeypatch.setattr("allennlp.common.plugins.import_plugins", lambda: None)
    helps = []
    for program in (main, lambda arguments: run_in_allennlp(*arguments)):
        with pytest.raises(SystemExit, match="0"):
            program([name, "--help"])
        helps.append(capsys.readouterr().out)
    options = [set(re.findall(r"--[a-z][a-z-]*", text)) for text in helps]
    assert options[0] == options[1]
    assert " ".join(COMMANDS[name].description.split()) in " ".join(helps[0].split())


def test_elmo_imports_the_plugins_of_the_project_and_reports_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = []
    monkeypatch.setattr("elmo_plugin.shims.import_plugins", lambda _: imported.append("plugins"))
    (tmp_path / "tagged.txt").write_text("Ada B-PER B-PER\n")
    main(["score", "ner", str(tmp_path / "tagged.txt"), "--json", str(tmp_path / "scores.json")])
    assert "accuracy: 100.00%" in capsys.readouterr().out and (tmp_path / "scores.json").exists()
    assert imported == ["plugins"]
    with pytest.raises(SystemExit, match=r"^elmo score: .*absent.txt"):
        main(["score", "ner", str(tmp_path / "absent.txt")])


OUTPUTS = [
    ["perplexity", "absent.tar.gz", "INPUT", "--json=OUTPUT"],
    ["ensemble", "INPUT", "-o", "OUTPUT"],
    ["sweep", "INPUT:variant", "-s", "runs", "--json=OUTPUT"],
    ["embed", "INPUT", "OUTPUT", "--all", "--bilm", "tiny", "--format", "hdf5"],
    ["export", "FOLDER", "FOLDER"],
]


@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_an_output_that_is_an_input_or_a_folder_is_refused_before_anything_is_read(
    arguments: list[str], tmp_path: Path
) -> None:
    def run(output: str) -> None:
        names = {"INPUT": tmp_path / "input", "OUTPUT": tmp_path / output, "FOLDER": tmp_path}
        words = " ".join(arguments)
        for name, path in names.items():
            words = words.replace(name, str(path))
        run_in_allennlp(*words.split())

    for file in ("input", "options.json", "weights.hdf5"):
        (tmp_path / file).write_text("{}")
    (tmp_path / "link").hardlink_to(tmp_path / "input")
    with pytest.raises(ConfigurationError, match=r"^the output .* is also an input \("):
        run("link")
    assert {
        (tmp_path / name).read_text() for name in ("input", "options.json", "weights.hdf5")
    } == {"{}"}
    if "FOLDER" not in arguments:
        with pytest.raises(ConfigurationError, match=rf"^{tmp_path} is a directory"):
            run(".")


@pytest.mark.parametrize("option", [(), ("--quiet",), ("--verbose",)])
def test_quiet_hides_progress_and_keeps_what_is_printed(
    option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("a b\n")
    paths = str(tmp_path / "text"), str(tmp_path / "vectors.hdf5")
    main([*option, "embed", *paths, "--all", "--bilm", "tiny"])
    printed = capsys.readouterr()
    assert bool(printed.err) is (option != ("--quiet",)), printed.err
    assert f"wrote {paths[1]}" in printed.out
    assert logging.getLogger("elmo_plugin").level == logging.NOTSET
