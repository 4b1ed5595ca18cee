"""A trainer that resumes exactly after a kill, for any model."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, TensorDict
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum, move_to_device
from allennlp.training import TrainerCallback, util
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.trainer import Trainer, TrainerCheckpoint
from overrides import overrides
from torch import Tensor

from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.common.logs import get_logger
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.training.random_states import random_states, set_random_states
from elmo_plugin.training.recovery import check_finished_metrics
from elmo_plugin.training.schedules import averaged_weights

logger = get_logger(__name__)

# The key, in a checkpoint's training state, of the values that AllenNLP leaves out.
KEY = "exact_resume"


class EpochProgress(TrainerCallback):
    """
    Counts the batches of the current epoch that were trained on, and sums their losses. Both are in
    `totals`.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self.totals = _zero_totals()

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
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if not is_training:
            return
        # With gradient accumulation, AllenNLP calls this once for several batches. `batch_loss` is
        # then the sum of their losses, but `batch_reg_loss` is the penalty of only one batch. The
        # penalty is the same for all of them, because the weights do not change in between.
        num_batches = len(batch_inputs)
        self.totals["batches"] += num_batches
        self.totals["loss"] += batch_metrics["batch_loss"]
        self.totals["reg_loss"] += batch_metrics.get("batch_reg_loss", 0.0) * num_batches

    @overrides
    def on_epoch(self, *args: Any, **kwargs: Any) -> None:
        self.totals = _zero_totals()


def _zero_totals() -> dict[str, Any]:
    """Returns the totals of an epoch that has not begun."""
    return {"batches": 0, "loss": 0.0, "reg_loss": 0.0}


class _LoadedCheckpointer:
    """Stands for a checkpointer that has loaded a checkpoint already."""

    def __init__(self, checkpoint: TrainerCheckpoint | None) -> None:
        self._checkpoint = checkpoint

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        return self._checkpoint


@dataclass
class _ContinuedLoader:
    """
    Yields the batches of an epoch that had begun before a checkpoint was made. AllenNLP trains only
    on the batches after the checkpoint.
    """

    loader: DataLoader
    # How many batches come before the checkpoint; `None` if it was made in a later epoch.
    num_before_checkpoint: int | None
    # Called with each batch before the checkpoint.
    process_earlier_batch: Callable[[TensorDict], None]
    # Called once, after the last batch before the checkpoint.
    reach_checkpoint: Callable[[], None]

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[TensorDict]:
        batches = iter(self.loader)
        # If the number is `None`, `islice` yields all batches.
        for batch in islice(batches, self.num_before_checkpoint):
            self.process_earlier_batch(batch)
            yield batch
        if self.num_before_checkpoint is not None:
            self.reach_checkpoint()
            yield from batches

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)


@Trainer.register("resumable", constructor="from_partial_objects")
class ResumableTrainer(GradientDescentTrainer):
    """
    AllenNLP's trainer with exact resume: after a kill at any moment, `allennlp train --recover`
    ends with the same weights, bit for bit, as without the kill. In addition to AllenNLP's content,
    a checkpoint holds the random states of each process, both at the checkpoint and at the start of
    each epoch, so that the data loader repeats its batches. It also holds the scale of the loss in
    mixed precision, and which epochs are validated. A frozen ELMo reads the batches of the first
    epoch again, because a vector in its caches depends, in its last bit, on the batch that it was
    computed in. A `best.th` that a kill left out of date is written again. Takes the same
    parameters as AllenNLP's.

    With checkpointer `atomic` a kill never costs a checkpoint. If a training resumes in the middle
    of an epoch, the model's own training metrics of that epoch, such as an F1, count only the
    batches after the checkpoint.

    Raises `ConfigurationError` if the number of processes differs from the checkpoint's.
    """

    _checkpointer: Any
    _serialization_dir: str

    def __init__(
        self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **kwargs: Any
    ) -> None:
        super().__init__(model, optimizer, data_loader, **kwargs)
        self._epoch_progress = EpochProgress(self._serialization_dir)
        self._callbacks.append(self._epoch_progress)
        # The random states at the start of each epoch so far.
        self._epoch_starts: list[dict[str, Any]] = []
        # Whether each epoch so far has a validation. It may be left out by AllenNLP's
        # `should_validate_callback`.
        self._validates_epochs: list[bool] = []
        # If the training resumes from a checkpoint: this process's part of it. `None` again as soon
        # as the data loader has passed the batches before the checkpoint.
        self._state_to_resume: dict[str, Any] | None = None

    def _extra_state(self) -> dict[str, Any]:
        """
        Returns further values for this process's part of a checkpoint. A subclass with such values
        overrides this method, and restores them in `_load_extra_state`.
        """
        return {}

    def _check_resume(self, process_state: dict[str, Any]) -> None:
        """
        Raises `ConfigurationError` if this training cannot go on from the checkpoint.
        `process_state` is this process's part of it, with the values of `_extra_state`.
        """

    def _load_extra_state(self, process_state: dict[str, Any]) -> None:
        """
        Restores the values of `_extra_state` from this process's part of a checkpoint. Called when
        the data loader has reached the checkpoint.
        """

    @overrides
    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        process_state = {
            "pass": dict(self._epoch_progress.totals),
            "random": random_states(self.cuda_device),
            "epoch_starts": self._epoch_starts,
            # For the finished epochs, and for the one that comes next or has begun.
            "validates_epochs": [
                *self._validates_epochs[: self._epochs_completed],
                self._should_validate_this_epoch,
            ],
        }
        process_state.update(self._extra_state())
        processes = self._gather(process_state)
        state = super().get_checkpoint_state()
        if state is None:  # another process writes the checkpoint
            # AllenNLP's checkpointer notes only in the writing process when it last wrote. But all
            # processes must agree on when the next checkpoint is due.
            self._checkpointer._last_save_num_epochs_completed = self._epochs_completed
            self._checkpointer._last_save_num_batches_in_epoch_completed = (
                self._batches_in_epoch_completed
            )
            return None
        scaler_state = None
        if self._scaler is not None:
            scaler_state = self._scaler.state_dict()
        state.trainer_state[KEY] = {"processes": processes, "scaler": scaler_state}
        return state

    def _gather(self, value: Any) -> list[Any]:
        """Returns the value that each process passes to this method, by rank."""
        if not self._distributed:
            return [value]
        values: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(values, value)
        return values

    def _check_same_everywhere(self, description: str, value: Any) -> None:
        """
        Raises `ConfigurationError` if a value is not the same in all processes. It may differ,
        because each node may have its own copy of the data and of the training's folder.
        """
        values = self._gather(value)
        if any(each != value for each in values):
            raise ConfigurationError(
                f"all processes must have the same {description}, but have {values}"
            )

    @overrides
    def _maybe_restore_checkpoint(self) -> None:
        if self._checkpointer is None:
            return  # this training keeps no checkpoints
        checkpoint = self._checkpointer.load_checkpoint()
        training_state: dict[str, Any] = {}
        if checkpoint is not None:
            training_state = checkpoint.trainer_state
        epochs = training_state.get("epochs_completed", 0)
        steps = training_state.get("batches_in_epoch_completed", 0)
        self._check_same_everywhere(
            "latest checkpoint (finished epochs, steps of the next)", [epochs, steps]
        )
        # Comes before anything is restored, because it raises an error for a wrong checkpoint.
        process_state = self._process_state_in(training_state)
        self._restore_by_allennlp(checkpoint)
        if checkpoint is None:
            return  # the training begins
        if process_state is None:
            logger.warning(
                "The checkpoint in %s was made by another trainer, or by an early version of this "
                "one: training resumes from it, but not exactly as it would have continued",
                self._serialization_dir,
            )
        else:
            scaler_state = training_state[KEY]["scaler"]
            if self._scaler is not None and scaler_state is not None:
                self._scaler.load_state_dict(scaler_state)
            self._epoch_progress.totals = dict(process_state["pass"])
            self._should_validate_this_epoch = process_state["validates_epochs"][-1]
            self._state_to_resume = process_state
        check_finished_metrics(
            Path(self._serialization_dir), num_epochs=self._start_after_epochs_completed
        )
        self._repair_best_model()
        if self._metric_tracker.should_stop_early():
            # The training had already stopped early. With no epochs left, it does not go on.
            self._num_epochs = self._start_after_epochs_completed

    def _process_state_in(self, training_state: dict[str, Any]) -> dict[str, Any] | None:
        """
        Returns this process's part of a checkpoint, or `None` if another trainer made the
        checkpoint, or a version before 27 November 2026, which stored less. Raises
        `ConfigurationError` if this training cannot go on from it.
        """
        if KEY not in training_state:
            return None
        processes = training_state[KEY]["processes"]
        if len(processes) != self._world_size:
            raise self._resume_error(
                f"it was made by {len(processes)} process(es), and now there are {self._world_size}"
            )
        rank = 0
        if self._distributed:
            rank = torch.distributed.get_rank()
        process_state = processes[rank]
        if "epoch_starts" not in process_state:
            return None  # such an early version
        # Checkpoints of earlier versions do not say which epochs are validated: there, all are.
        num_epochs = training_state["epochs_completed"] + 1
        process_state.setdefault("validates_epochs", [True] * num_epochs)
        self._check_resume(process_state)
        return process_state

    def _resume_error(self, reason: str) -> ConfigurationError:
        """Returns the error for a checkpoint from which this training cannot go on."""
        return ConfigurationError(
            f"cannot resume from the checkpoint in {self._serialization_dir}: {reason}"
        )

    def _restore_by_allennlp(self, checkpoint: TrainerCheckpoint | None) -> None:
        """Lets AllenNLP restore its part of a checkpoint that is loaded already."""
        average = self._moving_average
        averaged_parameters: list[tuple[str, Tensor]] = []
        if average is not None:
            averaged_parameters = average._parameters
        # AllenNLP's method asks the checkpointer for a checkpoint. It gets the loaded one.
        checkpointer = self._checkpointer
        self._checkpointer = _LoadedCheckpointer(checkpoint)
        try:
            super()._maybe_restore_checkpoint()
        finally:
            self._checkpointer = checkpointer
        if average is not None:
            # AllenNLP's `exponential` average now refers to copies of the parameters, taken from
            # the checkpoint. It must average the parameters of the model again. Its averages may
            # have become tensors on the CPU.
            average._parameters = averaged_parameters
            average._shadows = move_to_device(average._shadows, self.cuda_device)
            average._backups = move_to_device(average._backups, self.cuda_device)

    def _repair_best_model(self) -> None:
        """
        Writes `best.th` again if the restored model is the best so far. AllenNLP writes that file
        after the checkpoint, and its name is only in the next checkpoint. So a kill in between
        leaves an older best model, or none.

        Raises `BiLmError` if an earlier epoch wrote the best model, and the file is damaged.
        """
        path = os.path.join(self._serialization_dir, "best.th")
        is_end_of_epoch = self._start_after_batches_in_epoch_completed == 0
        # AllenNLP's own conditions for writing the best model after this checkpoint.
        is_best = self._should_validate_this_epoch and self._metric_tracker.is_best_so_far()
        if is_end_of_epoch and is_best:
            self._best_model_filename = path
            if self._primary:
                with averaged_weights(self._moving_average):
                    self._save_model_state(path)
        elif self._best_model_filename is not None:  # an earlier epoch was the best
            self._best_model_filename = path  # the folder may have been moved
            if self._primary:
                # AllenNLP reads the file only at the end of the training. It is read here so that
                # an error is raised now.
                load_plain(path, name=path)

    @overrides
    def _save_model_state(self, path: str) -> None:
        save_tensors(self.model.state_dict(), path)

    @overrides
    def _train_epoch(self, epoch: int) -> dict[str, float]:
        if self._state_to_resume is not None:
            return self._continue_epoch(epoch, self._state_to_resume)
        self._epoch_starts.append(random_states(self.cuda_device))
        self._validates_epochs.append(self._should_validate_this_epoch)
        metrics = super()._train_epoch(epoch)
        # If another trainer made the checkpoint, AllenNLP calls this method for the epochs before
        # it as well, but does not train on their batches. Then there is no loss to set.
        is_skipped = epoch < self._start_after_epochs_completed
        if not is_skipped:
            self._set_losses_of_whole_epoch(metrics)
        return metrics

    def _continue_epoch(self, epoch: int, process_state: dict[str, Any]) -> dict[str, float]:
        """
        Trains on the rest of the epoch in which the checkpoint was made. Epochs before it are only
        read again, so that the data loader and the caches of a frozen ELMo get into the same state.
        """
        self._restore_epoch_start(epoch, process_state)
        was_finished = epoch < self._start_after_epochs_completed
        num_before_checkpoint = None
        if not was_finished:
            num_before_checkpoint = self._epoch_progress.totals["batches"]
        process_earlier_batch = _ignore
        if epoch == 0:  # only in the first epoch does a frozen ELMo compute vectors for its cache
            process_earlier_batch = self._fill_caches
        loader = self.data_loader
        continued_loader = _ContinuedLoader(
            loader, num_before_checkpoint, process_earlier_batch, self._reach_checkpoint
        )
        self.data_loader = cast(DataLoader, continued_loader)
        try:
            metrics = super()._train_epoch(epoch)
        finally:
            self.data_loader = loader
        if not was_finished:
            self._set_losses_of_whole_epoch(metrics)
        elif self._should_validate_this_epoch:
            self._read_validation_data_again(process_earlier_batch)
        return metrics

    def _restore_epoch_start(self, epoch: int, process_state: dict[str, Any]) -> None:
        """
        Sets the random states with which an epoch began, so that its batches are the same, and
        whether the epoch is validated. Keeps both for the next checkpoint.
        """
        if epoch < len(process_state["epoch_starts"]):
            states = process_state["epoch_starts"][epoch]
        else:  # the checkpoint was made just before this epoch
            states = process_state["random"]
        set_random_states(states, self.cuda_device)
        self._epoch_starts.append(random_states(self.cuda_device))
        self._should_validate_this_epoch = process_state["validates_epochs"][epoch]
        self._validates_epochs.append(self._should_validate_this_epoch)

    def _set_losses_of_whole_epoch(self, metrics: dict[str, Any]) -> None:
        """
        Sets the mean losses of the whole epoch in its metrics. In AllenNLP's metrics, they are
        means over the batches since the resume.
        """
        if "loss" not in metrics:
            # The checkpoint was made after the last batch of the epoch, so AllenNLP had nothing to
            # train on, and left out the metrics.
            metrics_without_batches = util.get_metrics(
                self.model,
                total_loss=0.0,
                total_reg_loss=None,
                batch_loss=None,
                batch_reg_loss=None,
                num_batches=0,
                reset=True,
            )
            metrics.update(metrics_without_batches)
        # With gradient accumulation, AllenNLP counts the updates, not the batches.
        num_updates = dist_reduce_sum(self._batches_in_epoch_completed)
        if num_updates == 0:
            raise ConfigurationError("the training data have no instances")
        totals = self._epoch_progress.totals
        metrics["loss"] = dist_reduce_sum(totals["loss"]) / num_updates
        if self.model.get_regularization_penalty() is not None:
            metrics["reg_loss"] = dist_reduce_sum(totals["reg_loss"]) / num_updates

    def _read_validation_data_again(
        self, process_earlier_batch: Callable[[TensorDict], None]
    ) -> None:
        """
        Reads the validation data of a finished epoch again, because a loader may shuffle them. Each
        time it shuffles the order of the time before, so the order depends on the number of times.
        """
        self._pytorch_model.eval()  # as in validation, for vectors that `_fill_caches` computes
        if self._validation_data_loader is not None:
            for batch in self._validation_data_loader:
                process_earlier_batch(batch)

    def _fill_caches(self, batch: TensorDict) -> None:
        """
        Runs the model on a batch, as the first epoch did, so that a frozen ELMo stores the vectors
        in its cache. Does nothing if the model has no frozen ELMo. The metrics and the random
        states do not change.
        """
        if not self._has_frozen_elmo():
            return
        states = random_states(self.cuda_device)
        with torch.no_grad(), torch.autocast("cuda", enabled=self._use_amp):
            self.model(**batch)
        self.model.get_metrics(reset=True)
        set_random_states(states, self.cuda_device)  # the data loader may draw from them

    def _has_frozen_elmo(self) -> bool:
        """Returns whether the model has a biLM that is not trained, so that vectors are cached."""
        for module in self.model.modules():
            if isinstance(module, ElmoRepresentations) and not module.bilm.is_trainable:
                return True
        return False

    def _reach_checkpoint(self) -> None:
        """Restores the states of the checkpoint, now that the data were read up to it."""
        assert self._state_to_resume is not None
        set_random_states(self._state_to_resume["random"], self.cuda_device)
        self._load_extra_state(self._state_to_resume)
        self._state_to_resume = None

    @overrides
    def _try_train(self) -> tuple[dict[str, Any], int]:
        metrics, last_epoch = super()._try_train()
        if self._state_to_resume is not None:
            # All epochs were finished when the checkpoint was made, so no data loader reached it.
            self._reach_checkpoint()
        if "epoch" not in metrics:
            # AllenNLP trained no epoch, so the metrics of the last epoch are missing.
            metrics = {**self._written_metrics(last_epoch), **metrics}
        return metrics, last_epoch

    def _written_metrics(self, epoch: int) -> dict[str, Any]:
        """Reads the metrics that a finished epoch wrote; empty if this process wrote none."""
        path = os.path.join(self._serialization_dir, f"metrics_epoch_{epoch}.json")
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def _ignore(batch: TensorDict) -> None:
    """Does nothing with a batch."""
