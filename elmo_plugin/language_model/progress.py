"""Logs the progress and the speed of a training, and the time left."""

import math
import time
from typing import Any, NamedTuple, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import TensorDict
from allennlp.training import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides
from torch import Tensor
from tqdm import tqdm

from elmo_plugin.common.logs import get_logger
from elmo_plugin.common.progress import describe_seconds

logger = get_logger(__name__)


class _Start(NamedTuple):
    """The time and the step from which the average speed of the training is measured."""

    time: float
    step: int


@TrainerCallback.register("bilm_progress")
class BiLmProgress(TrainerCallback):
    """
    Logs a line after each epoch, such as "epoch 3 of 6: perplexity 14.2 (best so far), 3 min left",
    and lines at intervals within long epochs, on the primary process. The lines within epochs have
    the tokens per second since the line before, of one direction and all processes. The time left
    is estimated from the average speed since this process began to train.

    # Parameters

    seconds : `float`
        The least time between two lines within an epoch.
    """

    def __init__(self, serialization_dir: str, seconds: float = 60) -> None:
        super().__init__(serialization_dir)
        if not seconds >= 0:
            raise ConfigurationError(
                f"bilm_progress.seconds: expected a number from 0, got {seconds}"
            )
        self._seconds = seconds
        self._started: _Start | None = None
        self._begin_line()

    def _begin_line(self) -> None:
        """Begins to measure time and tokens for the next line within an epoch."""
        self._line_started = time.monotonic()
        # The number of tokens in each batch since then. They stay tensors until the line is logged:
        # to read a number here would mean to wait for the GPU at each batch.
        self._token_counts: list[Tensor] = []

    @overrides
    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: list[TensorDict],
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        epoch: int,
        batch_number: int,
        is_training: bool,
        is_primary: bool = True,
        batch_grad_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        if not is_training or not is_primary:
            return
        now = time.monotonic()
        step = trainer._total_batches_completed
        if self._started is None:
            # The first step is slower than the others, so the speed is measured from its end.
            self._started = _Start(now, step)
            self._begin_line()
            return
        for batch in batch_inputs:
            targets = cast(Tensor, batch["forward_targets"])
            self._token_counts.append(torch.count_nonzero(targets))
        elapsed = now - self._line_started
        if elapsed < self._seconds:
            return
        if elapsed == 0:  # possible if `self._seconds` is 0: the clock has not gone on
            return  # the speed is not known yet
        log_above_bars(self._line_within_epoch(trainer, epoch, elapsed, batch_metrics))
        self._begin_line()

    def _line_within_epoch(
        self,
        trainer: GradientDescentTrainer,
        epoch: int,
        seconds: float,
        batch_metrics: dict[str, Any],
    ) -> str:
        """Returns a line within an epoch, this many seconds after the line before."""
        # AllenNLP's trainer counts steps of the optimizer, although it calls them batches.
        step = trainer._total_batches_completed
        steps_before_epoch = step - trainer._batches_in_epoch_completed
        epochs_to_end = trainer._num_epochs - epoch  # this one included
        num_steps = steps_before_epoch + _steps_per_epoch(trainer) * epochs_to_end
        # All processes read about as many tokens as this one.
        tokens = sum(int(count) for count in self._token_counts) * trainer._world_size
        parts = [
            f"epoch {epoch + 1}/{trainer._num_epochs}",
            f"step {step:,}/{num_steps:,} ({step / num_steps:.1%})",
            f"{tokens / seconds:,.0f} tokens/s",
            f"{self._time_left(trainer, num_steps)} left",
        ]
        if "perplexity" in batch_metrics:
            parts.append(f"perplexity {batch_metrics['perplexity']:.2f}")
        if "sampled_loss" in batch_metrics:
            parts.append(f"sampled loss {batch_metrics['sampled_loss']:.4f}")
        parts.append(f"learning rate {trainer.optimizer.param_groups[0]['lr']:.3g}")
        return ", ".join(parts)

    @overrides
    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        self._begin_line()  # the time of the validation is not the training's
        if not is_primary:
            return
        line = f"epoch {epoch + 1} of {trainer._num_epochs}{_figure_of_epoch(metrics)}"
        # Without validation, AllenNLP takes every epoch for the best one.
        is_validated = "validation_perplexity" in metrics
        if is_validated and metrics["best_epoch"] == epoch:
            line += " (best so far)"
        epochs_left = trainer._num_epochs - epoch - 1
        if epochs_left > 0:
            steps_left = epochs_left * _steps_per_epoch(trainer)
            num_steps = trainer._total_batches_completed + steps_left
            line += f", {self._time_left(trainer, num_steps)} left"
        log_above_bars(line)

    def _time_left(self, trainer: GradientDescentTrainer, num_steps: int) -> str:
        """
        Describes the time until `num_steps` steps are done. It includes validations, because their
        time so far counts in the average speed.
        """
        step = trainer._total_batches_completed
        seconds_per_step = 0.0
        if self._started is not None:
            seconds = time.monotonic() - self._started.time
            measured_steps = max(step - self._started.step, 1)  # not 0, even at the first step
            seconds_per_step = seconds / measured_steps
        steps_left = max(num_steps - step, 0)  # `num_steps` may be a little too low
        return describe_seconds(steps_left * seconds_per_step)


def _figure_of_epoch(metrics: dict[str, Any]) -> str:
    """
    Returns the perplexity of the validation text, for the line after an epoch. Without validation,
    returns the perplexity of the training text, or its loss if negatives were sampled. Returns
    nothing for a model that measures none of them.
    """
    for name in ("validation_perplexity", "training_perplexity"):
        if name in metrics:
            return f": perplexity {metrics[name]:.1f}"
    if "training_sampled_loss" in metrics:
        return f": sampled loss {metrics['training_sampled_loss']:.4f}"
    return ""


def _steps_per_epoch(trainer: GradientDescentTrainer) -> int:
    """Returns how many steps of the optimizer an epoch has."""
    return math.ceil(len(trainer.data_loader) / trainer._num_gradient_accumulation_steps)


def log_above_bars(line: str) -> None:
    """Logs a line above the progress bars of the terminal."""
    # All bars that are shown now. tqdm's own `external_write_mode` would miss AllenNLP's bars: they
    # do not write to standard error themselves, but through a writer that also logs them.
    bars = list(getattr(tqdm, "_instances", ()))
    for bar in bars:
        bar.clear()
    logger.info(line)
    for bar in bars:
        bar.refresh()
