from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.training.callbacks import TrainerCallback
from torch import nn

from elmo_plugin.bilm import PRECISIONS, autocast_dtype
from elmo_plugin.bilm import precision as precision_module
from elmo_plugin.training import BFloat16Training

needs_bfloat16 = pytest.mark.skipif(
    bool(lacking := PRECISIONS["bfloat16"].missing_on(torch.device("cpu"))),
    reason=f"needs {lacking}",
)


class Recorder(nn.Linear):
    """A model that notes in which type it multiplied."""

    def __init__(self) -> None:
        super().__init__(4, 4)
        self.types: list[torch.dtype] = []

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = super().forward(inputs)
        self.types.append(outputs.dtype)
        return outputs


@pytest.fixture
def callback(tmp_path: Path) -> TrainerCallback:
    return TrainerCallback.from_params(
        Params({"type": "bfloat16"}), serialization_dir=str(tmp_path)
    )


def started(callback: TrainerCallback, model: nn.Module) -> None:
    trainer: Any = SimpleNamespace(model=model)
    callback.on_start(trainer, is_primary=True)


@needs_bfloat16
def test_bfloat16_applies_to_training_and_not_to_validation(callback: TrainerCallback) -> None:
    model, inputs = Recorder(), torch.ones(1, 4)
    started(callback, model)
    for mode in (True, False, True):
        model.train(mode)
        model(inputs)
        assert autocast_dtype(inputs) == torch.float32, (
            "what follows the forward pass is not under autocast"
        )
    callback.on_end(None)
    model(inputs)
    assert model.types == [torch.bfloat16, torch.float32, torch.bfloat16, torch.float32]


@needs_bfloat16
def test_autocast_ends_when_the_model_raises(callback: TrainerCallback) -> None:
    model = Recorder()
    started(callback, model)
    with pytest.raises(RuntimeError):
        model(torch.ones(1, 5))
    assert autocast_dtype(torch.ones(1)) == torch.float32


def test_a_processor_without_bfloat16_trains_in_float32_with_a_warning(
    callback: TrainerCallback, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(precision_module, "has_bfloat16", lambda: False)
    precision_module._warn_once.cache_clear()
    model = Recorder()
    started(callback, model)
    model(torch.ones(1, 4))
    assert model.types == [torch.float32]
    assert "bfloat16 needs a CPU with bfloat16 instructions" in caplog.text
    assert isinstance(callback, BFloat16Training)
