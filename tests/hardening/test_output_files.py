"""What AllenNLP writes next to its weights is complete, or is what was there before."""

import argparse
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import evaluate, predict
from allennlp.common import Params, util
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from elmo_plugin import hardening  # noqa: F401 (acts when imported)
from elmo_plugin.hardening import output_files
from tests.conftest import REPOSITORY
from tests.experiments.configs import BILM
from tests.trained_tagger import tagger_config, train


def fail(*arguments: Any, **options: Any) -> None:
    raise InterruptedError


def test_a_configuration_is_replaced_only_by_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.json"
    Params({"a": 1}).to_file(str(path))
    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(json, "dump", fail)
        Params({"a": 2}).to_file(str(path))
    assert Params.from_file(path).as_dict() == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_vocabulary_is_there_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vocabulary"
    vocabulary = Vocabulary({"words": {"cat": 2, "dog": 1}, "labels": {"N": 1}})
    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(Path, "rename", fail)
        vocabulary.save_to_files(str(path))
    assert not list(tmp_path.iterdir())
    for _ in range(2):
        vocabulary.save_to_files(str(path))
        loaded = Vocabulary.from_files(str(path))
        assert loaded.get_index_to_token_vocabulary("words") == {
            0: "@@PADDING@@",
            1: "@@UNKNOWN@@",
            2: "cat",
            3: "dog",
        }
    assert list(tmp_path.iterdir()) == [path]


def test_metrics_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    util.dump_metrics(str(tmp_path / "metrics.json"), {"loss": 1.5})
    with pytest.raises(TypeError):
        util.dump_metrics(str(tmp_path / "metrics.json"), {"loss": object()})
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"loss": 1.5}
    assert len(list(tmp_path.iterdir())) == 1


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
def test_an_input_is_not_emptied(command: str, option: str, tmp_path: Path) -> None:
    for name in ("in.jsonl", "model.tar.gz"):
        (tmp_path / name).write_text("kept")
    (tmp_path / "link").symlink_to("in.jsonl")
    (tmp_path / "hard").hardlink_to(tmp_path / "model.tar.gz")
    for output in ("in.jsonl", "link", "hard"):
        args = parsed(command, tmp_path / "model.tar.gz", tmp_path / "in.jsonl", option, tmp_path / output)
        with pytest.raises(ConfigurationError, match=f"{option} would replace .*{output}, which is an input"):
            args.func(args)
        assert (tmp_path / output).read_text() == "kept"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tagger")
    train(tagger_config(BILM, ["input"]), folder / "run")
    return folder / "run" / "model.tar.gz"


def test_a_missing_input_leaves_no_empty_output(archive: Path, tmp_path: Path) -> None:
    args = parsed("predict", archive, tmp_path / "gone.jsonl", "--output-file", tmp_path / "out.jsonl")
    with pytest.raises(ConfigurationError, match=r"gone.jsonl: there is no such file"):
        args.func(args)
    assert not list(tmp_path.iterdir())


def test_what_was_predicted_before_a_mistake_is_kept(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"words": ["a"]}\n{"words": []}\n')
    args = parsed("predict", archive, tmp_path / "in.jsonl", "--output-file", tmp_path / "out.jsonl")
    with pytest.raises(ConfigurationError, match=r"in.jsonl, line 2: "):
        args.func(args)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_earlier_predictions_stay_until_new_ones_are_whole(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for AllenNLP's function: it writes into the output, which is empty."""

    def predict_half(manager: Any) -> None:
        manager._output_file.write("new")
        if fails:
            raise KeyboardInterrupt

    monkeypatch.setattr(output_files, "RUN", predict_half)
    (tmp_path / "old.jsonl").write_text("old")
    for name in ("old.jsonl", "absent.jsonl"):
        manager = predict._PredictManager(None, "in.jsonl", str(tmp_path / name), 1, False, False)  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt) if fails else nullcontext():
            manager.run()
    assert (tmp_path / "old.jsonl").read_text() == ("old" if fails else "new")
    assert (tmp_path / "absent.jsonl").read_text() == "new", "a new file keeps what was predicted"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_all_outputs_of_an_evaluation_stay_until_new_ones_are_whole(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate_half(
        archive_file: str, input_file: str, metrics_output_file: str, predictions_output_file: None = None
    ) -> None:
        for output in metrics_output_file.split(","):
            Path(output).write_text("new")
        if fails:
            raise KeyboardInterrupt

    monkeypatch.setattr(output_files, "EVALUATE", evaluate_half)
    outputs = [tmp_path / "one.json", tmp_path / "two.json"]
    for output in outputs:
        output.write_text("old")
    with pytest.raises(KeyboardInterrupt) if fails else nullcontext():
        evaluate.evaluate_from_archive("model.tar.gz", "1.txt,2.txt", ",".join(map(str, outputs)))
    assert {output.read_text() for output in outputs} == {"old" if fails else "new"}


def test_none_of_several_inputs_is_replaced(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text("kept")
    inputs, outputs = f"{tmp_path}/1.txt,{tmp_path}/2.txt", f"{tmp_path}/new.json,{tmp_path}/2.txt"
    with pytest.raises(ConfigurationError, match=r"--output-file would replace .*2\.txt, which is an input"):
        evaluate.evaluate_from_archive("model.tar.gz", inputs, outputs)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_the_command_itself_does_not_empty_its_input(command: str, archive: Path, tmp_path: Path) -> None:
    """AllenNLP binds the functions of its commands before it imports plugins."""
    (tmp_path / ".allennlp_plugins").write_text("elmo_plugin.plugin\nelmo_plugin.hardening\n")
    (tmp_path / "in.jsonl").write_text('{"words": ["a"]}\n')
    line = [sys.executable, "-m", "allennlp", command, archive, "in.jsonl", "--output-file", "in.jsonl"]
    found = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}
    )
    assert found.returncode != 0
    assert "--output-file would replace in.jsonl, which is an input (in.jsonl)" in found.stderr
    assert (tmp_path / "in.jsonl").read_text() == '{"words": ["a"]}\n'
