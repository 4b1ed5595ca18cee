"""Mistakes in configurations name their key, and commands of AllenNLP never write over an input."""

import argparse
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

import pytest
import torch
from allennlp import models
from allennlp.commands import evaluate, predict
from allennlp.common import FromParams, Lazy, Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Instance

import elmo_plugin.hardening
from elmo_plugin.hardening import MistakeError
from tests.conftest import REPOSITORY


class Part(Registrable):
    pass


@Part.register("sum")
class Sum(Part):
    def __init__(
        self,
        size: int,
        parts: list[Part] = None,  # noqa: RUF013 (as AllenNLP's own constructors have it, here and below)
        by_name: dict[str, Part] = None,  # noqa: RUF013
    ) -> None:
        if size < 0:
            raise ValueError("a negative\nsize")


@Part.register("full")
class Full(Part):
    def __init__(self) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")


class Whole(FromParams):
    def __init__(
        self,
        name: str,
        is_large: bool = False,
        rate: float = 0.1,
        limit: int | None = None,
        sizes: Union[int, list[int]] = 3,  # noqa: UP007
        part: Part = None,
        either: Union[Part, list[Part]] = None,  # noqa: UP007
        late: Lazy[Part] = None,
        **others: Any,
    ) -> None:
        if others:
            raise TypeError("__init__() got an unexpected keyword argument 'nmae'")
        self.limit = limit
        if late is not None:
            late.construct()


def whole(**changes: Any) -> Whole:
    return Whole.from_params(Params({"whole": {"name": "x", **changes}})["whole"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "whole.name: expected text, not 3"),
        ({"is_large": "yes"}, "whole.is_large: expected true or false, not 'yes'"),
        ({"limit": "5"}, "whole.limit: expected a whole number, not '5'"),
        ({"sizes": ["x"]}, "whole.sizes.0: expected a whole number, not 'x'"),
        ({"nmae": "x"}, "whole: Whole does not take the option 'nmae'"),
        ({"part": []}, "whole.part: expected an object or the name of a type, not []"),
        ({"part": {"type": "sum", "size": 1, "x": 1}}, "whole.part: Extra parameters passed to Sum: {'x'"),
        ({"part": "sum"}, 'whole.part: key "size" is required'),
        (
            {"part": {"type": "sum", "size": -1}},
            "whole.part: cannot be made (ValueError: a negative size)",
        ),
        (
            {"part": {"type": "sum", "size": 1, "parts": [{"type": "sum", "size": "x"}]}},
            "whole.part.parts.0.size: expected a whole number, not 'x'",
        ),
        (
            {"part": {"type": "sum", "size": 1, "by_name": {"a": {"type": "sum", "size": "x"}}}},
            "whole.part.by_name.a.size: expected a whole number, not 'x'",
        ),
        ({"either": [{"type": "sum", "size": "x"}]}, "whole.either.0.size: expected a whole number, not 'x'"),
        ({"late": [{"a": {}}]}, "whole.late: expected an object or the name of a type, not [{'a': {}}]"),
        ({"late": {"type": "sum", "size": "x"}}, "whole.late.size: expected a whole number, not 'x'"),
    ],
)
def test_a_mistake_is_a_sentence_that_begins_with_its_key(changes: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        whole(**changes)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r'key "name" is required at location "whole\."'):
        Whole.from_params(Params({"whole": {}})["whole"])


def test_what_is_right_is_made_as_before() -> None:
    assert whole(limit=None).limit is None
    assert whole(limit=4, sizes=[1, 2], part={"type": "sum", "size": 1}).limit == 4


def test_the_cause_is_kept_and_the_mistake_can_be_pickled() -> None:
    with pytest.raises(MistakeError) as error:
        whole(part={"type": "sum", "size": -1})
    assert isinstance(error.value.__cause__, ValueError)
    copied = pickle.loads(pickle.dumps(error.value))
    assert (str(copied), copied.path) == (str(error.value), "whole.part")


def test_a_full_memory_is_no_mistake() -> None:
    with pytest.raises(torch.cuda.OutOfMemoryError):
        whole(part="full")


class Reads(FromParams):
    def __init__(self, reader: DatasetReader) -> None:
        list(reader.read("x.txt"))


@pytest.mark.parametrize("error", [ConfigurationError("x.txt, line 3: wrong"), ZeroDivisionError("a bug")])
def test_errors_of_reading_stay_as_they_are(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(self: DatasetReader, path: str) -> Iterable[Instance]:
        raise error

    monkeypatch.setattr(DatasetReader.by_name("babi"), "_read", read)
    with pytest.raises(type(error)) as found:
        Reads.from_params(Params({"loader": {"reader": "babi"}})["loader"])
    assert found.value is error


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
        args = parsed(command, tmp_path / "model.tar.gz", tmp_path / "in.jsonl", option, tmp_path / output)
        with pytest.raises(ConfigurationError, match=f"the output .*{output} is also an input"):
            args.func(args)
        assert (tmp_path / output).read_text() == "kept"


def test_none_of_several_inputs_is_replaced(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text("kept")
    inputs, outputs = f"{tmp_path}/1.txt,{tmp_path}/2.txt", f"{tmp_path}/new.json,{tmp_path}/2.txt"
    with pytest.raises(ConfigurationError, match=r"the output .*2\.txt is also an input"):
        evaluate.evaluate_from_archive("model.tar.gz", inputs, outputs)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_the_real_command_does_not_empty_its_input(command: str, tmp_path: Path) -> None:
    """AllenNLP binds the functions of its commands before it imports plugins."""
    (tmp_path / ".allennlp_plugins").write_text("elmo_plugin.plugin\nelmo_plugin.hardening\n")
    (tmp_path / "in.jsonl").write_text('{"words": ["a"]}\n')
    line = [sys.executable, "-m", "allennlp", command, "absent", "in.jsonl", "--output-file", "in.jsonl"]
    found = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}
    )
    assert found.returncode != 0
    assert "the output in.jsonl is also an input" in found.stderr
    assert (tmp_path / "in.jsonl").read_text() == '{"words": ["a"]}\n'


def test_an_override_of_nothing_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model": {"type": "x"}}')
    message = r"^--overrides: overrides dict contains unused keys: .*absent.key"
    with pytest.raises(ConfigurationError, match=message) as error:
        Params.from_file(str(tmp_path / "config.json"), '{"absent.key": 1}')
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ['{"absent": 1}', "{", "3"])
def test_arguments_that_a_predictor_does_not_take_are_one_sentence(
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


def test_a_batch_weight_key_that_the_model_does_not_return_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def evaluate_archive(archive_file: str, input_file: str, batch_weight_key: str = "") -> None:
        {}[batch_weight_key]

    monkeypatch.setattr(elmo_plugin.hardening, "EVALUATE", evaluate_archive)
    with pytest.raises(
        ConfigurationError, match=r"^--batch-weight-key num_tokens: the model does not return it$"
    ):
        evaluate.evaluate_from_archive("absent", "absent", batch_weight_key="num_tokens")


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
    elmo_plugin.hardening.excepthook(ValueError, ValueError("a bug"), None)
    assert "ValueError: a bug" in capsys.readouterr().err
