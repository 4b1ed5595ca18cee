"""What `elmo_plugin.quiet` shows of a training; tests/commands/test_new.py has whole ones."""

import json
import logging

import pytest

from elmo_plugin.quiet import ConsoleFormatter, is_shown

TRAINED = {
    "best_epoch": 6,
    "training_duration": "0:00:03",
    "training_accuracy": 0.9,
    "best_validation_accuracy": 0.75,
    "best_validation__f1-measure-PER": 0.1,
    "best_validation_reg_loss": 0.0,
    "best_validation_loss": 1.5,
}


def final(metrics: dict[str, object]) -> logging.LogRecord:
    text = json.dumps(metrics, indent=2)
    return logging.LogRecord("allennlp.common.util", logging.INFO, "", 0, "Metrics: %s", (text,), None)


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        (TRAINED, "best epoch 7: accuracy 0.750, loss 1.500"),
        (TRAINED | {"test_accuracy": 0.5}, "best epoch 7: accuracy 0.750, loss 1.500; test: accuracy 0.500"),
        ({"accuracy": 0.25, "loss": 2, "kind": "x"}, "accuracy 0.250, loss 2.000"),
    ],
)
def test_the_final_figures_are_one_line(metrics: dict[str, object], line: str) -> None:
    assert is_shown(final(metrics))
    assert ConsoleFormatter().format(final(metrics)) == line


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("allennlp.common.params", logging.INFO, False),
        ("allennlp.training.trainer", logging.WARNING, True),
        ("elmo_plugin.tasks.ner", logging.INFO, True),
        ("elmo_plugins", logging.INFO, False),
    ],
)
def test_the_console_shows_warnings_and_this_package(name: str, level: int, shown: bool) -> None:
    assert is_shown(logging.LogRecord(name, level, "", 0, "a message", (), None)) is shown
