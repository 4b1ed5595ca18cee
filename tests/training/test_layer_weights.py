"""The mixing weights in the log, in log writers and in the metrics of a training."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from allennlp.training import TrainerCallback
from allennlp.training.callbacks.log_writer import LogWriterCallback

from elmo_plugin.embedding import read_layer_weights
from elmo_plugin.training import layer_weights  # noqa: F401 (registers it)
from tests.trained_bilm import random_bilm, write_training
from tests.trained_tagger import tagger_config, train


@pytest.mark.parametrize("average", [None, {"type": "ema", "decay": 0.9}])
def test_layer_weights_and_gamma_are_logged_after_each_epoch(
    average: dict[str, Any] | None, tmp_path: Path
) -> None:
    logged: dict[str, list[float]] = defaultdict(list)

    @TrainerCallback.register("recording_log", exist_ok=True)
    class RecordingLog(LogWriterCallback):
        def log_scalars(self, scalars: dict[str, float], **kwargs: Any) -> None:
            for name, value in scalars.items():
                logged[name].append(value)

    config = tagger_config(str(write_training(tmp_path / "bilm", random_bilm())))
    config["trainer"] |= {"callbacks": ["elmo_weights", "recording_log"], "moving_average": average}
    model = train(config, tmp_path / "run")
    figure = r"-?\d\.\d{3}"
    line = rf"epoch (\d), ELMo at (\w+): gamma {figure}, token {figure}, LSTM 1 {figure}, LSTM 2 {figure}\n"
    lines = re.findall(line, (tmp_path / "run" / "out.log").read_text())
    assert lines == [("1", "input"), ("1", "output"), ("2", "input"), ("2", "output")]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["best_epoch"] == 1, "so that the model is that of the last epoch"
    for mix in read_layer_weights(model.state_dict()):
        names = [f"elmo_{mix.placement}_{name}" for name in ("gamma", "token", "LSTM_1", "LSTM_2")]
        assert [metrics[name] for name in names] == [mix.gamma, *mix.normalized_weights]
        for name in names:
            first, last = logged[name]
            assert first != last == metrics[name]
