"""
Shortens the output of AllenNLP's commands. Projects list this module in `.allennlp_plugins`, and
importing it is enough.

A training prints one line for each epoch, and the best scores at the end. The whole log is in the
file `out.log` of the training. Progress bars are shown only on a terminal, and disappear when they
end.

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
# AllenNLP's message with the final figures begins with this; the rest is JSON.
_METRICS = "Metrics: "
# AllenNLP's warning that progress bars leave out metrics with names such as "_loss" begins so.
_WARNING_ABOUT_PROGRESS_BARS = "Metrics with names beginning"
# AllenNLP's name for the part of the loss that regularization adds.
_REGULARIZATION_LOSS = "reg_loss"

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
        validation = format_numbers(metrics, "validation_")
        if validation:
            line += f", {validation}"
        if metrics["best_epoch"] == epoch:
            line += " (best so far)"
        logger.info("epoch %d of %d: %s", epoch + 1, trainer._num_epochs, line)


class ConsoleFormatter(VisibleFormatter):
    """
    Formats a record as its message only, without its time and level. The final figures of a
    training or an evaluation become one line.
    """

    @overrides
    def format(self, record: logging.LogRecord) -> str:
        if not has_final_figures(record):
            return super().format(record)
        metrics = json.loads(record.getMessage().removeprefix(_METRICS))
        return summarize(metrics)


def has_final_figures(record: logging.LogRecord) -> bool:
    """Returns whether a record is AllenNLP's message with the final figures."""
    return record.name == "allennlp.common.util" and record.getMessage().startswith(_METRICS)


def is_shown(record: logging.LogRecord) -> bool:
    """
    Returns whether the console shows a record. It shows warnings, the messages of this package and
    the final figures.
    """
    if record.name.startswith("elmo_plugin.") or has_final_figures(record):
        return True
    # The warning about progress bars is not shown, because nobody has to act on it.
    is_about_progress_bars = record.getMessage().startswith(_WARNING_ABOUT_PROGRESS_BARS)
    return record.levelno >= logging.WARNING and not is_about_progress_bars


def summarize(metrics: Mapping[str, Any]) -> str:
    """Returns the final figures of a training, or of an evaluation, in one line."""
    validation = format_numbers(metrics, "best_validation_")
    if not validation:  # an evaluation, or a training without validation
        return format_numbers(metrics)
    line = f"best epoch {metrics['best_epoch'] + 1}: {validation}"
    test = format_numbers(metrics, "test_")
    if test:
        line += f"; test: {test}"
    return line


def format_numbers(metrics: Mapping[str, Any], prefix: str = "") -> str:
    """
    Returns a text such as "accuracy 0.912, loss 0.301", with the metrics whose names begin with
    `prefix`. The prefix is cut off. Names that begin with `_` are left out, as in AllenNLP's
    progress bars, and so is the loss of the regularization: the loss includes it.
    """
    shown = []
    for key, value in metrics.items():
        if not key.startswith(prefix) or not isinstance(value, int | float):
            continue
        name = key.removeprefix(prefix)
        is_left_out = name.startswith("_") or name == _REGULARIZATION_LOSS
        if not is_left_out:
            shown.append(f"{name} {value:.3f}")
    return ", ".join(shown)


def quieten_console() -> None:
    """
    Makes the logging handlers of the console show only the records for which `is_shown` is true,
    and only their messages.
    """
    for handler in logging.getLogger().handlers:
        writes_to_console = getattr(handler, "stream", None) in (sys.stdout, sys.stderr)
        if writes_to_console:
            handler.addFilter(is_shown)
            handler.setFormatter(ConsoleFormatter())


def prepare_quiet_logging(*args: Any, **kwargs: Any) -> None:
    """Prepares the logging of a training. The log file gets everything, and the console less."""
    PREPARE_LOGGING(*args, **kwargs)
    quieten_console()


def disappearing_bar(*args: Any, **kwargs: Any) -> Any:
    """Returns a progress bar that is shown only on a terminal, and removed when it ends."""
    kwargs.setdefault("disable", not sys.stderr.isatty())
    kwargs.setdefault("leave", False)
    return BAR(*args, **kwargs)


@wraps(EVALUATE)
def evaluate_from_archive(*args: Any, **kwargs: Any) -> Any:
    """Evaluates a model, and always logs the figures."""
    metrics = EVALUATE(*args, **kwargs)
    options = inspect.signature(EVALUATE).bind(*args, **kwargs).arguments
    is_logged_by_allennlp = bool(options.get("metrics_output_file"))
    if not is_logged_by_allennlp:
        logger.info(format_numbers(metrics))
    return metrics


evaluate.evaluate_from_archive = evaluate_from_archive
common_logging.prepare_global_logging = prepare_quiet_logging
gradient_descent_trainer.DEFAULT_CALLBACKS = (EpochLines,)
Tqdm.tqdm = staticmethod(disappearing_bar)  # type: ignore[method-assign]
quieten_console()
