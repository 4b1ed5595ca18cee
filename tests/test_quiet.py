"""What `elmo_plugin.quiet` shows of a training; tests/commands/test_new.py has whole ones."""

import importlib
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from allennlp.commands import evaluate
from allennlp.common import Tqdm
from allennlp.common import logging as common_logging
from allennlp.training import gradient_descent_trainer

TRAINED = {
    "best_epoch": 6,
    "training_duration": "0:00:03",
    "training_accuracy": 0.9,
    "best_validation_accuracy": 0.75,
    "best_validation__f1-measure-PER": 0.1,
    "best_validation_reg_loss": 0.0,
    "best_validation_loss": 1.5,
}


@pytest.fixture(scope="module")
def quiet() -> Iterator[Any]:
    """The module, whose replacements are undone at the end."""
    with pytest.MonkeyPatch.context() as patch:
        for holder, name in (
            (common_logging, "prepare_global_logging"),
            (evaluate, "evaluate_from_archive"),
            (gradient_descent_trainer, "DEFAULT_CALLBACKS"),
            (Tqdm, "tqdm"),
        ):
            patch.setattr(holder, name, vars(holder)[name])
        yield importlib.import_module("elmo_plugin.quiet")


@pytest.mark.parametrize(("file", "shown"), [(None, ["accuracy 0.250"]), ("scores.json", [])])
def test_an_evaluation_without_a_file_for_its_figures_logs_them(
    quiet: Any,
    file: str | None,
    shown: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def evaluate_archive(
        archive_file: str, input_file: str, metrics_output_file: str | None = None
    ) -> Any:
        return {"accuracy": 0.25, "_hidden": 1.0}

    monkeypatch.setattr(quiet, "EVALUATE", evaluate_archive)
    with caplog.at_level(logging.INFO):
        assert quiet.evaluate_from_archive("model", "dev.csv", file) == {
            "accuracy": 0.25,
            "_hidden": 1.0,
        }
    assert caplog.messages == shown


def final(metrics: dict[str, object]) -> logging.LogRecord:
    text = json.dumps(metrics, indent=2)
    return logging.LogRecord(
        "allennlp.common.util", logging.INFO, "", 0, "Metrics: %s", (text,), None
    )


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        (TRAINED, "best epoch 7: accuracy 0.750, loss 1.500"),
        (
            TRAINED | {"test_accuracy": 0.5},
            "best epoch 7: accuracy 0.750, loss 1.500; test: accuracy 0.500",
        ),
        ({"accuracy": 0.25, "loss": 2, "kind": "x"}, "accuracy 0.250, loss 2.000"),
    ],
)
def test_the_final_figures_are_one_line(quiet: Any, metrics: dict[str, object], line: str) -> None:
    assert quiet.is_shown(final(metrics))
    assert quiet.ConsoleFormatter().format(final(metrics)) == line


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("allennlp.common.params", logging.INFO, False),
        ("allennlp.training.trainer", logging.WARNING, True),
        ("elmo_plugin.tasks.ner", logging.INFO, True),
        ("elmo_plugins", logging.INFO, False),
    ],
)
def test_the_console_shows_warnings_and_this_package(
    quiet: Any, name: str, level: int, shown: bool
) -> None:
    assert quiet.is_shown(logging.LogRecord(name, level, "", 0, "a message", (), None)) is shown
