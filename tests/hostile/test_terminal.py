"""What a file says is printed as text: it neither controls the terminal nor looks like a line of ours."""

import ast
import io
import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest
from allennlp.common.checks import ConfigurationError

from elmo_plugin import shims
from elmo_plugin.bilm import BiLm, BiLmError
from elmo_plugin.commands.main import main
from elmo_plugin.common.errors import advise_version
from elmo_plugin.common.logs import VisibleFormatter, get_logger, show_log
from elmo_plugin.common.progress import progress_bar
from elmo_plugin.common.streams import escape_in_json, show, visible_line
from elmo_plugin.migration.porting.source import how_to_give
from tests.small_bilm import loud_bilm, write_pair

PACKAGE = Path(__file__).parents[2] / "elmo_plugin"
EVIL = "a\x1b[2J\x9b1mb\u202ec\nelmo: all went well\u2028d"
SHOWN = r"a\x1b[2J\x9b1mb\u202ec\nelmo: all went well\u2028d"


def test_loggers_of_this_package_log_one_harmless_line(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("elmo_plugin.test").warning("%s has %d words", EVIL, 3)
    (record,) = caplog.records
    assert record.getMessage() == f"{SHOWN} has 3 words"


@pytest.mark.slow
def test_every_module_takes_its_logger_from_there_and_prints_by_show() -> None:
    # These modules print JSON, or what they have escaped.
    may_print = {"streams.py", "files.py", "perplexity.py", "terminal.py"}
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        if file.name != "logs.py":
            assert "logging.getLogger(__name__)" not in text, file
        if file.name in may_print:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{file}, line {node.lineno}"


def test_the_log_of_a_command_is_harmless_whoever_writes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    show_log(verbose=False)
    logging.getLogger("allennlp.data.vocabulary").warning("the namespace %s", EVIL)
    logging.getLogger("allennlp.data.vocabulary").info("not shown")
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("other").exception("failed")
    lines = sys.stderr.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[:2] == [f"the namespace {SHOWN}", "failed"]
    assert "\x1b" not in "".join(lines)
    assert isinstance(root.handlers[0].formatter, VisibleFormatter)


def test_lines_bars_and_errors_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    show(EVIL, "b")
    assert capsys.readouterr().out == f"{SHOWN} b\n"
    assert str(BiLmError(EVIL)) == SHOWN
    list(progress_bar(iterable=[1], desc=EVIL))
    assert SHOWN in capsys.readouterr().err
    assert visible_line("a\tb") == "a\tb"


def test_json_keeps_its_values_and_has_no_control_characters() -> None:
    text = escape_in_json(json.dumps({EVIL: [EVIL, "é\x7f"]}, ensure_ascii=False))
    assert json.loads(text) == {EVIL: [EVIL, "é\x7f"]}
    assert not re.search("[\0-\x1f\x7f-\x9f\u202a-\u202e]", text) and "é" in text


def test_a_dataset_that_no_bilm_has_is_named_harmlessly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = write_pair(loud_bilm(), tmp_path)
    with h5py.File(files["weights"], "a") as weights:
        weights[EVIL.replace("\u2028", "")] = [1.0]
    BiLm.from_pretrained(files)
    assert "\x1b" not in caplog.text and r"the dataset a\x1b[2J" in caplog.text


def test_the_keys_of_a_configuration_are_named_harmlessly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config: dict[str, Any] = {"model": {"type": "simple_tagger", EVIL: 1}, EVIL: {"type": EVIL}}
    Path("old.json").write_text(json.dumps(config))
    main(["port", "old.json"])
    printed = capfd.readouterr()
    assert not re.search("[\x1b\x9b\u202e\u2028]", printed.err)
    assert not re.search("[\x1b\x9b\u202e]", printed.out)
    assert "elmo: all went well" not in printed.err.splitlines()
    assert EVIL in json.loads(printed.out)


def test_advice_to_type_something_quotes_no_command_from_a_file() -> None:
    assert advise_version("1.2.0rc1+local") == "install elmo_plugin==1.2.0rc1+local"
    for version in ("1 && rm -rf ~", "1\n", "", None, "9" * 99):
        assert advise_version(version) == "install the version of elmo_plugin that trained it"
    assert how_to_give(["RATE", "a; rm -rf ~"]) == (
        "--ext-var RATE=VALUE --ext-var 'a; rm -rf ~'=VALUE"
    )
    for name in ("en; rm -rf ~", "en_core\nx"):
        with pytest.raises(ConfigurationError) as raised:
            shims._refuse_to_install(name)
        assert "download" not in str(raised.value)
    with pytest.raises(ConfigurationError, match="spacy download en_core_web_sm installs it"):
        shims._refuse_to_install("en_core_web_sm")
