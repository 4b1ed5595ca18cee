"""Mistakes end in one sentence, and commands of AllenNLP never write over an input."""

import argparse
import inspect
import re
import sys
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import spacy
from allennlp import models
from allennlp.commands import evaluate, predict
from allennlp.common import Params, util
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import SpacyTokenizer, Token

import elmo_plugin.hardening
from elmo_plugin.common.errors import TRUST, BiLmError
from elmo_plugin.common.spacy_in_allennlp import using_spacy_rules
from elmo_plugin.hardening import EVALUATE
from tests.conftest import REPOSITORY


def parsed(command: str, *arguments: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    subcommand = {"predict": predict.Predict, "evaluate": evaluate.Evaluate}[command]()
    subcommand.add_subparser(parser.add_subparsers())
    return parser.parse_args([command, *map(str, arguments)])


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("predict", "--output-file"),
        ("evaluate", "--output-file"),
        ("evaluate", "--predictions-output-file"),
    ],
)
def test_an_output_that_is_an_input_is_refused(command: str, option: str, tmp_path: Path) -> None:
    for name in ("in.jsonl", "model.tar.gz"):
        (tmp_path / name).write_text("kept")
    (tmp_path / "link").symlink_to("in.jsonl")
    (tmp_path / "hard").hardlink_to(tmp_path / "model.tar.gz")
    for output in ("in.jsonl", "link", "hard"):
        args = parsed(
            command, tmp_path / "model.tar.gz", tmp_path / "in.jsonl", option, tmp_path / output
        )
        with pytest.raises(ConfigurationError, match=f"the output .*{output} is also an input"):
            args.func(args)
        assert (tmp_path / output).read_text() == "kept"


def test_outputs_never_replace_any_of_several_inputs(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text("kept")
    inputs, outputs = f"{tmp_path}/1.txt,{tmp_path}/2.txt", f"{tmp_path}/new.json,{tmp_path}/2.txt"
    with pytest.raises(ConfigurationError, match=r"the output .*2\.txt is also an input"):
        evaluate.evaluate_from_archive("model.tar.gz", inputs, outputs)


def test_inputs_in_json_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("kept")
    for data in (f'"{tmp_path}/dev.txt"', f'{{"ner": ["{tmp_path}/dev.txt"]}}'):
        with pytest.raises(ConfigurationError, match=r"the output .*dev\.txt is also an input"):
            evaluate.evaluate_from_archive("model.tar.gz", data, f"{tmp_path}/dev.txt")


@pytest.mark.parametrize(
    ("name", "auto_names", "is_refused"),
    [
        ("run.preds", "PREDS", True),
        ("run.preds", "ALL", True),
        ("run.preds", "METRICS", False),
        ("run.outputs", "METRICS", True),
        ("run.outputs", "NONE", False),
    ],
)
def test_outputs_that_allennlp_names_itself_never_replace_an_input(
    name: str,
    auto_names: str,
    is_refused: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / name).write_text("kept")
    evaluated = []
    monkeypatch.setattr(
        elmo_plugin.hardening, "EVALUATE", wraps(EVALUATE)(lambda *_, **__: evaluated.append(1))
    )
    args = parsed(
        "evaluate",
        tmp_path / "model.tar.gz",
        tmp_path / name,
        "--output-file",
        tmp_path / "new.json",
        "--predictions-output-file",
        tmp_path / "new.txt",
        "--auto-names",
        auto_names,
    )
    if is_refused:
        with pytest.raises(ConfigurationError, match=f"the output .*{name} is also an input"):
            args.func(args)
    else:
        args.func(args)
    assert bool(evaluated) is not is_refused


@pytest.mark.parametrize("text", ['{"absent": 1}', "{", "3"])
def test_arguments_that_a_predictor_does_not_accept_are_reported_in_one_sentence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        predict, "load_archive", lambda *_, **__: models.Archive(None, Params({}), None, None, None)
    )
    monkeypatch.setattr(
        predict.Predictor, "from_archive", lambda *_, extra_args, **__: (lambda: None)(**extra_args)
    )
    (tmp_path / "in.jsonl").write_text("")
    args = parsed("predict", "absent", tmp_path / "in.jsonl", "--predictor-args", text)
    with pytest.raises(ConfigurationError, match=r"^--predictor-args "):
        args.func(args)


def test_a_wrong_batch_weight_key_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def evaluate_archive(archive_file: str, input_file: str, batch_weight_key: str = "") -> None:
        {}[batch_weight_key]

    monkeypatch.setattr(elmo_plugin.hardening, "EVALUATE", evaluate_archive)
    with pytest.raises(
        ConfigurationError, match=r"^--batch-weight-key num_tokens: the model does not return it$"
    ):
        evaluate.evaluate_from_archive("absent", "absent", batch_weight_key="num_tokens")


def test_evaluate_keeps_allennlps_signature() -> None:
    bound = inspect.signature(evaluate.evaluate_from_archive).bind("run", "dev.txt", "scores.json")
    assert bound.arguments["metrics_output_file"] == "scores.json"


@pytest.mark.parametrize(
    ("reader", "message", "is_old"),
    [
        (
            {"type": "own", "lazy": True},
            "__init__() got an unexpected keyword argument 'lazy'",
            True,
        ),
        ({"type": "own", "lazy": True}, "unsupported operand type(s) for +", False),
        ({"type": "own"}, "__init__() got an unexpected keyword argument 'lines'", False),
    ],
)
def test_an_old_key_passed_to_a_base_class_is_named(
    reader: dict[str, Any],
    message: str,
    is_old: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(params: Params, serialization_dir: str) -> None:
        (tmp_path / "run").mkdir()
        params.pop("dataset_reader")  # as AllenNLP does
        raise TypeError(message)

    monkeypatch.setattr(elmo_plugin.hardening, "TRAIN_MODEL", fails)
    monkeypatch.setattr(elmo_plugin.hardening, "mistakes", lambda config: [])
    expected = (
        (ConfigurationError, "dataset_reader.lazy: .*elmo port") if is_old else (TypeError, ".*")
    )
    with pytest.raises(expected[0], match=expected[1]):
        elmo_plugin.hardening.train_model(Params({"dataset_reader": reader}), str(tmp_path / "run"))
    assert (tmp_path / "run").exists() is not is_old


def test_a_mistake_ends_a_program_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elmo_plugin.hardening, "EXCEPTHOOK", sys.__excepthook__)
    elmo_plugin.hardening.excepthook(ConfigurationError, ConfigurationError("a mistake"), None)
    assert capsys.readouterr().err == "ConfigurationError: a mistake\n"
    with pytest.raises(RuntimeError) as jsonnet:
        Params.from_file(str(REPOSITORY / "experiments/sst_elmo.jsonnet"), '{"model": ')
    elmo_plugin.hardening.excepthook(RuntimeError, jsonnet.value, None)
    assert re.fullmatch(r"RuntimeError: STATIC ERROR: [^\n]*\n", capsys.readouterr().err)
    with pytest.raises(ValueError, match="unused") as override:
        Params.from_file(str(REPOSITORY / "experiments/sst_elmo.jsonnet"), '{"absent.key": 1}')
    elmo_plugin.hardening.excepthook(ValueError, override.value, None)
    assert re.fullmatch(r"ValueError: overrides [^\n]*absent\.key[^\n]*\n", capsys.readouterr().err)
    elmo_plugin.hardening.excepthook(util.SigTermReceived, util.SigTermReceived(), None)
    stopped = "stopped; --recover continues a training from its last checkpoint\n"
    assert capsys.readouterr().err == stopped
    elmo_plugin.hardening.excepthook(BrokenPipeError, BrokenPipeError(), None)
    assert capsys.readouterr().err == ""
    elmo_plugin.hardening.excepthook(ValueError, ValueError("a bug"), None)
    assert "ValueError: a bug" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "is_replaced"), [("", True), ('{"model": ', True), ('{"model":  {}}', False)]
)
def test_a_truncated_configuration_does_not_prevent_recovery(
    content: str, is_replaced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model_state_e1_b0.th").touch()
    (tmp_path / "config.json").write_text(content)
    monkeypatch.setattr(
        elmo_plugin.hardening, "TRAIN_MODEL", lambda params, serialization_dir, recover: None
    )
    monkeypatch.setattr(elmo_plugin.hardening, "raise_for_mistakes", lambda found: None)
    elmo_plugin.hardening.train_model(
        Params({"model": {}}), serialization_dir=str(tmp_path), recover=True
    )
    expected = '{"model":{}}' if is_replaced else content
    assert re.sub(r"\s", "", (tmp_path / "config.json").read_text()) == re.sub(r"\s", "", expected)


def test_errors_about_refused_archives_do_not_suggest_options_missing_from_allennlp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(archive: str) -> None:
        raise BiLmError(f"{archive}: model.initial: a.tar.gz is outside the archive; {TRUST}")

    monkeypatch.setattr(elmo_plugin.archives, "load_archive", refuse)
    with pytest.raises(
        ConfigurationError, match=r"use elmo predict --trust, or take elmo_plugin\.hardening out"
    ):
        elmo_plugin.hardening.load_archive("run")


@pytest.mark.parametrize(("trained", "was_there"), [(False, False), (True, False), (False, True)])
def test_a_mistake_removes_only_a_new_folder_in_which_nothing_was_trained(
    trained: bool, was_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    if was_there:
        folder.mkdir()

    def fails(params: Params, serialization_dir: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / ("best.th" if trained else "config.json")).touch()
        raise FileNotFoundError("file glove.txt not found")

    monkeypatch.setattr(elmo_plugin.hardening, "TRAIN_MODEL", fails)
    monkeypatch.setattr(elmo_plugin.hardening, "raise_for_mistakes", lambda found: None)
    with pytest.raises(FileNotFoundError):
        elmo_plugin.hardening.train_model(Params({"model": {}}), str(folder))
    assert folder.exists() is (trained or was_there)


def test_outputs_are_written_while_another_archive_is_read() -> None:
    with using_spacy_rules({}, "the archive"):
        assert util.sanitize({"word": Token("Paris"), "scores": (1, 2)}) == {
            "word": "Paris",
            "scores": [1, 2],
        }


@pytest.mark.parametrize("trust", [False, True])
def test_words_are_split_by_rules_if_spacys_model_is_not_installed(
    trust: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with using_spacy_rules({}, "the archive", trust):
        tokenizer = SpacyTokenizer()
    words = [token.text for token in tokenizer.tokenize("Don't go.")]
    assert words == ["Do", "n't", "go", "."]
    assert "the archive: words are split by spaCy's rules, without the model" in caplog.text


@pytest.mark.slow
def test_a_trusted_archive_may_load_an_installed_spacy_model(tmp_path: Path) -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(tmp_path / "en_own")
    own = str(tmp_path / "en_own")
    with using_spacy_rules({}, "the archive", trust=True):
        assert SpacyTokenizer(own).spacy.pipe_names == ["sentencizer"]
    with (
        using_spacy_rules({}, "the archive"),
        pytest.raises(BiLmError, match=f"model {own} may contain code; use --trust"),
    ):
        SpacyTokenizer(own)


def test_a_trusted_archive_that_needs_tags_requires_a_spacy_model() -> None:
    config = {"token_indexers": {"tags": {"type": "single_id", "feature_name": "tag_"}}}
    message = "the archive: spaCy's model en_core_web_sm is not installed"
    with (
        using_spacy_rules(config, "the archive", trust=True),
        pytest.raises(BiLmError, match=message),
    ):
        SpacyTokenizer()
