"""
Shortens the output of AllenNLP's commands when it is imported, as a line of `.allennlp_plugins`.
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

from elmo_plugin.common.logs import VisibleFormatter, get_logger

PREPARE_LOGGING = common_logging.prepare_global_logging
BAR = Tqdm.tqdm
EVALUATE = evaluate.evaluate_from_archive
# How AllenNLP's message with the final figures begins; JSON follows.
_METRICS = "Metrics: "
# How AllenNLP's warning begins that progress bars leave out metrics whose names begin with "_".
_WARNING_OF_BARS = "Metrics with names beginning"

logger = get_logger(__name__)


class EpochLines(ConsoleLoggerCallback):
    """Logs one line for each epoch, where AllenNLP logs a table and the whole first batch."""

    @overrides
    def on_batch(self, *args: Any, **kwargs: Any) -> None:
        """Logs nothing, where AllenNLP logs the first batch."""

    @overrides
    def on_epoch(
        self, trainer: Any, metrics: Any, epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        if not is_primary:
            return  # only the first process of a distributed training logs
        line = f"training loss {metrics['training_loss']:.3f}"
        validation = figures(metrics, "validation_")
        if metrics["best_epoch"] == epoch:
            validation += " (best so far)"
        if validation:
            line += f", {validation}"
        logger.info("epoch %d of %d: %s", epoch + 1, trainer._num_epochs, line)


class ConsoleFormatter(VisibleFormatter):
    """
    Formats a record as its message alone, and the final figures of a training or an evaluation as
    one line.
    """

    @overrides
    def format(self, record: logging.LogRecord) -> str:
        if not is_final(record):
            return super().format(record)
        return summary(json.loads(record.getMessage().removeprefix(_METRICS)))


def is_final(record: logging.LogRecord) -> bool:
    """Returns whether a record is AllenNLP's message with the final figures."""
    return record.name == "allennlp.common.util" and record.getMessage().startswith(_METRICS)


def is_shown(record: logging.LogRecord) -> bool:
    """
    Returns whether the console shows a record: warnings, reports of this package, final figures.
    """
    # Nobody has to act on the warning about progress bars.
    is_of_bars = record.getMessage().startswith(_WARNING_OF_BARS)
    is_warning = record.levelno >= logging.WARNING and not is_of_bars
    return is_warning or record.name.startswith("elmo_plugin.") or is_final(record)


def summary(metrics: Mapping[str, Any]) -> str:
    """Returns the final figures of a training, or of an evaluation, in one line."""
    validation = figures(metrics, "best_validation_")
    if not validation:  # an evaluation, or a training without validation
        return figures(metrics)
    line = f"best epoch {metrics['best_epoch'] + 1}: {validation}"
    test = figures(metrics, "test_")
    if test:
        line += f"; test: {test}"
    return line


def figures(metrics: Mapping[str, Any], prefix: str = "") -> str:
    """
    Returns the numbers whose names begin with `prefix`, under their names without it. Like
    AllenNLP's progress bars, it leaves out names that begin with `_`; and `reg_loss`, which is a
    part of the loss.
    """
    shown = []
    for key, value in metrics.items():
        name = key.removeprefix(prefix)
        is_figure = key.startswith(prefix) and isinstance(value, int | float)
        if is_figure and not name.startswith("_") and name != "reg_loss":
            shown.append(f"{name} {value:.3f}")
    return ", ".join(shown)


def quieten_console() -> None:
    """
    Makes the logging handlers of the console show only the records for which `is_shown` is true,
    and only their messages.
    """
    for handler in logging.getLogger().handlers:
        if getattr(handler, "stream", None) in (sys.stdout, sys.stderr):
            handler.addFilter(is_shown)
            handler.setFormatter(ConsoleFormatter())


def prepare_quiet_logging(*args: Any, **kwargs: Any) -> None:
    """Prepares the logging of a training: its file gets everything, and the console less."""
    PREPARE_LOGGING(*args, **kwargs)
    quieten_console()


def disappearing_bar(*args: Any, **kwargs: Any) -> Any:
    """Returns a progress bar that is shown only on a terminal, and removed when it ends."""
    kwargs.setdefault("disable", not sys.stderr.isatty())
    kwargs.setdefault("leave", False)
    return BAR(*args, **kwargs)


@wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """
    Evaluates a model, and logs the figures; AllenNLP does so only if it writes them to a file.
    """
    metrics = EVALUATE(*args, **kwargs)
    options = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    if not options.get("metrics_output_file"):
        logger.info(figures(metrics))
    return metrics


evaluate.evaluate_from_archive = evaluate_from_archive
common_logging.prepare_global_logging = prepare_quiet_logging
gradient_descent_trainer.DEFAULT_CALLBACKS = (EpochLines,)
Tqdm.tqdm = staticmethod(disappearing_bar)  # type: ignore[method-assign]
quieten_console()
