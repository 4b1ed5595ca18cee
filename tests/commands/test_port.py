"""`elmo port` writes the new configuration, and tries it."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from elmo_plugin.bilm import BiLmOptions
from tests.commands.run import run
from tests.conftest import REPOSITORY
from tests.migration.porting.public_configs import (
    CONFIGS,
    ELMO_DIM,
    ELMO_ONLY,
    EMBEDDER,
    bucket,
    config,
    lstm,
    write_data,
)

FIXTURES = REPOSITORY / "tests" / "fixtures"


def simple_tagger() -> dict[str, Any]:
    reader = {"type": "conll2003", "tag_label": "pos", "token_indexers": ELMO_ONLY, "lazy": False}
    model = {
        "type": "simple_tagger",
        "text_field_embedder": {"elmo": EMBEDDER},
        "encoder": lstm(ELMO_DIM),
    }
    return config(reader, model, bucket("tokens"), "+accuracy")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with `old.json`, and data in `data`."""
    write_data(tmp_path / "data")
    (tmp_path / "old.json").write_text(json.dumps(simple_tagger()))
    return tmp_path


# Keys that `allennlp train` reads itself, so that `TrainModel` does not know them.
KEYS_OF_THE_COMMAND = {
    "random_seed": 1,
    "evaluation": {"type": "simple"},
    "include_in_archive": ["notes.txt"],
}


def test_port_converts_and_tries_a_configuration(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = json.loads((old / "old.json").read_text())
    elmo = {"type": "elmo_token_embedder"} | {
        f"{kind}_file": str(FIXTURES / "bilm" / name)
        for kind, name in (("options", "options.json"), ("weight", "weights.hdf5"))
    }
    config["model"]["text_field_embedder"]["elmo"] = elmo
    config["model"]["encoder"]["input_size"] = (
        2 * BiLmOptions.from_file(elmo["options_file"]).lstm.projection_dim
    )
    for role in ("train", "validation"):
        config[f"{role}_data_path"] = str(old / "data" / "train")
    (old / "old.json").write_text(
        json.dumps(config | {"distributed": {"cuda_devices": [0, 1]}, **KEYS_OF_THE_COMMAND})
    )
    run("port", old / "old.json", "-o", old / "new.json", "--dry-run")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "iterator: now `data_loader`\n" in printed.err
    assert (
        "dry run: built the reader, vocabulary, model and trainer, and ran one batch\n"
        in printed.err
    )
    assert "distributed" in Params.from_file(str(old / "new.json"))


def test_port_reads_and_writes_standard_streams(
    old: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run("port", old / "old.json", "-o", old / "new.json")
    capfd.readouterr()
    stdin = io.TextIOWrapper(io.BytesIO((old / "old.json").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    run("port", "-")
    assert capfd.readouterr().out == (old / "new.json").read_text()


@pytest.mark.slow
def test_numbers_given_as_strings_are_converted_and_variables_are_kept(tmp_path: Path) -> None:
    old: Any = simple_tagger()
    old["model"]["encoder"]["hidden_size"] = "5"
    text = json.dumps(old).replace('"lr": 0.001', '"lr": std.extVar("ABSENT_RATE")')
    (tmp_path / "old.jsonnet").write_text(text)
    run("port", tmp_path / "old.jsonnet", "-o", tmp_path / "new.jsonnet")
    assert (
        '"lr": std.parseJson(std.extVar("ABSENT_RATE"))' in (tmp_path / "new.jsonnet").read_text()
    )
    new = Params.from_file(str(tmp_path / "new.jsonnet"), ext_vars={"ABSENT_RATE": "0.25"})
    assert (new["model"]["encoder"]["hidden_size"], new["trainer"]["optimizer"]["lr"]) == (5, 0.25)
    with pytest.raises(ConfigurationError, match=r"^dry run: pass --ext-var ABSENT_RATE=VALUE$"):
        run("port", tmp_path / "old.jsonnet", "-o", tmp_path / "other.jsonnet", "--dry-run")


CONLL = {"type": "conll2003", "tag_label": "ner", "coding_scheme": "BIOUL"}


@pytest.mark.parametrize(
    ("make", "changes", "arguments", "message"),
    [
        (simple_tagger, {}, ["--dry-run", "--trust"], "^dry run: .*gone.tsv"),
        (CONFIGS["ner"], {}, ["--ext-var", "A"], "^--ext-var A: expected NAME=VALUE"),
        (
            simple_tagger,
            {"train_data_path": "_ _ _ _\n", "dataset_reader": CONLL},
            ["--dry-run", "--trust"],
            r"^dry run: .*/a\.txt, read by dataset_reader \(type: 'conll2003', tag_label: 'ner', "
            r"convert_to_coding_scheme: 'BIOUL'\): InvalidTagSequence: _$",
        ),
        (
            simple_tagger,
            {"train_data_path": "\n"},
            ["--dry-run", "--trust"],
            r"^dry run: .*/a\.txt, read by dataset_reader \(type: 'conll2003', .*\): it finds no instances$",
        ),
        (
            simple_tagger,
            {
                "train_data_path": "\n",
                "validation_data_path": "\n",  # the same file, for another reader
                "validation_dataset_reader": CONLL,
            },
            ["--dry-run", "--trust"],
            r"^dry run: .*/a\.txt, read by dataset_reader \(type: 'conll2003', .*\): it finds no instances$",
        ),
    ],
)
def test_the_remaining_work_is_reported_in_one_sentence(
    make: Callable[[], Any],
    changes: dict[str, Any],
    arguments: list[str],
    message: str,
    tmp_path: Path,
) -> None:
    old = make() | {"train_data_path": "gone.tsv"}
    del old["validation_data_path"]
    for key, value in changes.items():
        if isinstance(value, str):
            (tmp_path / "a.txt").write_text(value)
            old[key] = str(tmp_path / "a.txt")
        else:
            old[key] = value
    (tmp_path / "old.json").write_text(json.dumps(old))
    with pytest.raises(ConfigurationError, match=message):
        run("port", tmp_path / "old.json", "-o", tmp_path / "new.json", *arguments)


@pytest.mark.parametrize(
    ("make", "reader", "findings"),
    [
        (
            simple_tagger,
            {"type": "quarel"},
            ["dataset_reader.type: 'quarel' was removed: "],
        ),
        (
            CONFIGS["bcn"],
            {"type": "sst_tokens"},
            ["dataset_reader.type: 'sst_tokens' is not registered: ", "model.type: 'bcn' is "],
        ),
    ],
)
def test_a_dry_run_of_an_unfinished_configuration_prints_each_finding_once(
    make: Callable[[], Any],
    reader: dict[str, Any],
    findings: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    old = make() | {"dataset_reader": reader}
    (tmp_path / "old.json").write_text(json.dumps(old))
    with pytest.raises(
        ConfigurationError, match=r"^dry run: first do the points that are listed above"
    ):
        run("port", tmp_path / "old.json", "-o", tmp_path / "new.json", "--dry-run")
    printed = capfd.readouterr().err
    for finding in findings:
        assert printed.count(f"to be done: {finding}") == 1


@pytest.mark.parametrize("option", [["--dry-run"], ["--ext-var", "RATE=1"]])
def test_options_of_configurations_are_refused_for_an_archive(
    tmp_path: Path, option: list[str]
) -> None:
    (tmp_path / "old.tar.gz").touch()
    message = "^--ext-var and --dry-run are for a configuration, not for an archive$"
    with pytest.raises(ConfigurationError, match=message):
        run("port", tmp_path / "old.tar.gz", "-o", tmp_path / "new.tar.gz", *option)


def test_a_module_that_the_configuration_names_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "named_here.py").write_text("raise SystemExit(9)")
    for name in ("json", "_jsonnet", "resource"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    model = {"type": "named_here.Model", "encoder": "named_here.Encoder"}
    trainer = {"optimizer": "named_here.Adam", "no_tqdm": True}
    (tmp_path / "old.jsonnet").write_text(
        f"local a = 1; {json.dumps({'model': model, 'trainer': trainer})}"
    )
    run("port", "old.jsonnet", "-o", "new.json")
    assert json.loads((tmp_path / "new.json").read_text())["model"] == model
    assert "no_tqdm: removed" in capfd.readouterr().err
