"""The mixing weights in the log, in TensorBoard and in the metrics of a training."""

import json
import re
from pathlib import Path

import pytest
import torch
from tensorboardX.proto.event_pb2 import Event

from elmo_plugin.embedding import read_layer_weights
from elmo_plugin.training import callbacks  # noqa: F401 (registers it)
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config, train


def scalars_logged(folder: Path) -> dict[str, list[float]]:
    """The values of each scalar in the event files of TensorBoard: records of (length, crc, data, crc)."""
    values: dict[str, list[float]] = {}
    for file in folder.glob("events.*"):
        content = file.read_bytes()
        while content:
            size = int.from_bytes(content[:8], "little")
            for value in Event.FromString(content[12 : 12 + size]).summary.value:
                values.setdefault(value.tag, []).append(value.simple_value)
            content = content[16 + size :]
    return values


def test_weights_and_gamma_are_logged_each_epoch(tmp_path: Path) -> None:
    config = tagger_config(str(write_training(tmp_path / "bilm", random_bilm())))
    config["trainer"]["callbacks"] = ["elmo_weights", "tensorboard"]
    model = train(config, tmp_path / "run")
    figure = r"-?\d\.\d{3}"
    line = (
        rf" - epoch (\d), ELMo at (\w+): gamma {figure}, token {figure}, LSTM 1 {figure}, LSTM 2 {figure}\n"
    )
    lines = re.findall(line, (tmp_path / "run" / "out.log").read_text())
    assert lines == [("1", "input"), ("1", "output"), ("2", "input"), ("2", "output")]

    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    logged = scalars_logged(tmp_path / "run" / "log" / "train")
    assert metrics["best_epoch"] == 1, "so that the model is that of the last epoch"
    for mix in read_layer_weights(model.state_dict()):
        prefix = f"elmo_{mix.placement}"
        names = [f"{prefix}_{name}" for name in ("gamma", "token", "LSTM_1", "LSTM_2")]
        assert [metrics[name] for name in names] == [mix.gamma, *mix.normalized_weights]
        for name in names:
            first, last = logged[f"train/{name}"]
            assert last == pytest.approx(metrics[name]) and first != last


def test_with_a_moving_average_the_weights_are_those_of_the_archive(tmp_path: Path) -> None:
    config = tagger_config(str(write_training(tmp_path / "bilm", random_bilm())), ["input"])
    config["trainer"]["moving_average"] = {"type": "ema", "decay": 0.9}
    expected = train(config, tmp_path / "alone").state_dict()
    config["trainer"]["callbacks"] = ["elmo_weights"]
    state = train(config, tmp_path / "run").state_dict()
    torch.testing.assert_close(state, expected, rtol=0, atol=0)  # the training is the same
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["best_epoch"] == 1, "so that the model is that of the last epoch"
    (mix,) = read_layer_weights(state)
    names = ["gamma", "token", "LSTM_1", "LSTM_2"]
    assert [metrics[f"elmo_input_{name}"] for name in names] == [mix.gamma, *mix.normalized_weights]
