"""
Shortens what AllenNLP's commands print when it is imported, as a line of `.allennlp_plugins`.
Training prints one line for each epoch and the best scores last; the whole log is in the training's
`out.log`. Progress bars are shown only on a terminal, and disappear when they end.

`docs/hardening.md` lists all replacements.
"""

import inspect
import json
import logging
import sys
from collections.abc import Mapping
from functools import wraps
from typing import Any

from allennlp.commands import evaluate
from allennlp.common import logging as common_logging
from allennlp.common.tqdm import Tqdm
from allennlp.training import gradient_descent_trainer
from allennlp.training.callbacks import ConsoleLoggerCallback
from overrides import overrides

PREPARE_LOGGING = common_logging.prepare_global_logging
BAR = Tqdm.tqdm
EVALUATE = evaluate.evaluate_from_archive
_METRICS = "Metrics: "  # before the final figures, as JSON
_OF_BARS = "Metrics with names beginning"  # a warning about those with "_"

logger = logging.getLogger(__name__)


class EpochLines(ConsoleLoggerCallback):
    """Logs one line for each epoch, in the place of AllenNLP's table and of the first batch."""

    @overrides
    def on_batch(self, *args: Any, **kwargs: Any) -> None:
        pass

    @overrides
    def on_epoch(
        self, trainer: Any, metrics: Any, epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        if not is_primary:
            return
        best = " (best so far)" if metrics["best_epoch"] == epoch else ""
        parts = [
            f"training loss {metrics['training_loss']:.3f}",
            figures(metrics, "validation_") + best,
        ]
        logger.info(
            "epoch %d of %d: %s", epoch + 1, trainer._num_epochs, ", ".join(filter(None, parts))
        )


class ConsoleFormatter(logging.Formatter):
    """
    Formats only the message of a record; the final figures of a training or an evaluation in one
    line.
    """

    @overrides
    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        return (
            summary(json.loads(message[len(_METRICS) :]))
            if is_final(record)
            else super().format(record)
        )


def is_final(record: logging.LogRecord) -> bool:
    """Returns whether a record has the final figures."""
    return record.name == "allennlp.common.util" and record.getMessage().startswith(_METRICS)


def is_shown(record: logging.LogRecord) -> bool:
    """
    Returns whether the console shows a record: warnings, reports of this package, final figures.
    """
    is_warning = record.levelno >= logging.WARNING and not record.getMessage().startswith(_OF_BARS)
    return is_warning or record.name.startswith("elmo_plugin.") or is_final(record)


def summary(metrics: Mapping[str, Any]) -> str:
    """Returns the final figures of a training, or of an evaluation, in one line."""
    if not (validation := figures(metrics, "best_validation_")):
        return figures(metrics)
    test = figures(metrics, "test_")
    return f"best epoch {metrics['best_epoch'] + 1}: {validation}" + (
        f"; test: {test}" if test else ""
    )


def figures(metrics: Mapping[str, Any], prefix: str = "") -> str:
    """
    Returns the figures whose names begin with `prefix`, without those that progress bars leave out.
    """
    names = [
        name
        for name in metrics
        if name.startswith(prefix) and isinstance(metrics[name], int | float)
    ]
    shown = {name.removeprefix(prefix): metrics[name] for name in names}
    return ", ".join(
        f"{name} {value:.3f}"
        for name, value in shown.items()
        if name[0] != "_" and name != "reg_loss"
    )


def quieten_console() -> None:
    """Lets the handlers of the console show less."""
    for handler in logging.getLogger().handlers:
        if getattr(handler, "stream", None) in (sys.stdout, sys.stderr):
            handler.addFilter(is_shown)
            handler.setFormatter(ConsoleFormatter())


def prepare_quiet_logging(*args: Any, **kwargs: Any) -> None:
    """Prepares the logging of a training, whose file gets everything."""
    PREPARE_LOGGING(*args, **kwargs)
    quieten_console()


def passing_bar(*args: Any, **kwargs: Any) -> Any:
    """Returns a progress bar that leaves no line and is shown only on a terminal."""
    return BAR(*args, **({"disable": not sys.stderr.isatty(), "leave": False} | kwargs))


@wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """
    Evaluates a model, and logs the figures; AllenNLP does so only if it writes them to a file.
    """
    metrics = EVALUATE(*args, **kwargs)
    if not inspect.signature(EVALUATE).bind(*args, **kwargs).arguments.get("metrics_output_file"):
        logger.info(figures(metrics))
    return metrics


evaluate.evaluate_from_archive = evaluate_from_archive
common_logging.prepare_global_logging = prepare_quiet_logging
gradient_descent_trainer.DEFAULT_CALLBACKS = (EpochLines,)
Tqdm.tqdm = staticmethod(passing_bar)  # type: ignore[method-assign]
quieten_console()
