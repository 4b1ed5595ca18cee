import logging
import re
import time
from pathlib import Path

import pytest
import torch
from allennlp.common import Tqdm
from allennlp.common.checks import ConfigurationError

from elmo_plugin.common.progress import describe_seconds
from elmo_plugin.language_model.progress import BiLmProgress, log_above_bars
from tests.language_model.stateful import PlaceKeepingLoader, StatefulModel, make_trainer


class Clock:
    """
    Time that goes on by a second at each batch of training, and by a minute at each of validation.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        forward = StatefulModel.forward

        def slow_forward(model: StatefulModel, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
            self.now += 1 if model.training else 60
            return forward(model, **inputs)

        monkeypatch.setattr(StatefulModel, "forward", slow_forward)


def progress_lines(folder: Path, caplog: pytest.LogCaptureFixture, **options) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        make_trainer(folder, callbacks=[BiLmProgress(str(folder), seconds=4)], **options).train()
    return [record.getMessage() for record in caplog.records if "tokens/s" in record.getMessage()]


def test_speed_and_remaining_time_are_measured_over_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    lines = progress_lines(tmp_path, caplog, num_epochs=2)
    # Steps of 2 + 2 + 2 + 1 batches of 6 targets: a line after the third step, for the two after
    # the first, and in the second epoch, for the steps since the validation, after the second and
    # the fourth but last.
    assert [line.split(", ")[:4] for line in lines] == [
        ["epoch 1/2", "step 3/8 (37.5%)", "6 tokens/s", "10 s left"],
        ["epoch 2/2", "step 6/8 (75.0%)", "6 tokens/s", "52 s left"],
    ]
    assert all(re.search(r", perplexity \d\.\d\d, learning rate 0\.\d+$", line) for line in lines)


def test_each_epoch_ends_with_its_perplexity_and_the_remaining_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    progress_lines(tmp_path, caplog, num_epochs=3)
    lines = [line for line in caplog.messages if line.startswith("epoch") and ":" in line]
    assert [line.split(":")[0] for line in lines] == [
        "epoch 1 of 3",
        "epoch 2 of 3",
        "epoch 3 of 3",
    ]
    assert [line.rpartition(", ")[2] for line in lines[:2]] == ["6 min left", "2 min left"]
    assert all(re.search(r": perplexity \d\.\d\b", line) for line in lines)
    assert "(best so far)" in lines[0]
    assert "left" not in lines[-1]
    assert [describe_seconds(seconds) for seconds in (89.4, 91, 7_800)] == [
        "89 s",
        "2 min",
        "2 h 10 min",
    ]


def test_the_step_count_ends_at_its_total_even_if_epochs_differ_in_length(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    length = PlaceKeepingLoader.__len__
    monkeypatch.setattr(
        PlaceKeepingLoader, "__len__", lambda self: length(self) + 2 * len(self._finished)
    )
    lines = progress_lines(tmp_path, caplog, num_epochs=2, num_gradient_accumulation_steps=1)
    assert [line.split(", ")[1] for line in lines] == [
        "step 5/14 (35.7%)",
        "step 11/16 (68.8%)",
        "step 15/16 (93.8%)",
    ]


def test_a_sampled_loss_is_not_called_a_perplexity(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    progress = BiLmProgress(str(tmp_path), seconds=0)
    trainer = make_trainer(tmp_path, num_epochs=1)
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        for _ in range(2):
            progress.on_batch(
                trainer, [], [], {"sampled_loss": 2.5}, 0, 1, is_training=True, is_primary=True
            )
    assert "sampled loss 2.5000" in caplog.text and "perplexity" not in caplog.text


@pytest.mark.parametrize(
    ("metrics", "figure"),
    [
        ({"training_perplexity": 9.04, "validation_perplexity": 14.2}, ": perplexity 14.2"),
        ({"training_perplexity": 9.04}, ": perplexity 9.0"),
        ({"training_sampled_loss": 2.5}, ": sampled loss 2.5000"),
        ({"training_accuracy": 0.5}, ""),  # of another model
        ({"training_sampled_loss": 2.5, "validation_perplexity": 14.2}, ": perplexity 14.2"),
    ],
)
def test_only_the_figure_of_a_validation_is_called_the_best(
    metrics: dict[str, float], figure: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    progress = BiLmProgress(str(tmp_path))
    trainer = make_trainer(tmp_path, num_epochs=1)
    # Without validation, AllenNLP's metrics call each epoch the best one.
    with caplog.at_level(logging.INFO, logger="elmo_plugin"):
        progress.on_epoch(trainer, {"best_epoch": 0, **metrics}, epoch=0)
    best = " (best so far)" if "validation_perplexity" in metrics else ""
    assert caplog.messages[-1] == f"epoch 1 of 1{figure}{best}"


def test_batches_that_are_skipped_after_a_kill_are_not_counted_as_speed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    make_trainer(tmp_path, num_epochs=2).train()
    lines = progress_lines(tmp_path, caplog, num_epochs=3)
    assert [line.split(", ")[:4] for line in lines] == [
        ["epoch 3/3", "step 11/12 (91.7%)", "6 tokens/s", "2 s left"]
    ]


def test_a_line_does_not_run_into_the_bar(capsys: pytest.CaptureFixture) -> None:
    handler = logging.StreamHandler()
    logger = logging.getLogger("elmo_plugin.language_model.progress")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        for _ in Tqdm.tqdm(range(1), desc="bar"):
            log_above_bars("the line")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    lines = capsys.readouterr().err.split("\n")
    before, after = lines[0], lines[1]
    assert before.split("\r")[-1] == "the line" and after.startswith("\rbar")


def test_a_negative_time_is_named() -> None:
    with pytest.raises(
        ConfigurationError, match=r"bilm_progress\.seconds: expected a number from 0, got -1"
    ):
        BiLmProgress("folder", seconds=-1)
