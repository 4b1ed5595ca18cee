"""A trainer that resumes exactly after a kill, for any model."""

import json
import logging
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, TensorDict
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum, move_to_device
from allennlp.training import TrainerCallback, util
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.trainer import Trainer, TrainerCheckpoint
from overrides import overrides

from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.embedding import ElmoRepresentations

logger = logging.getLogger(__name__)

# The key, in a checkpoint's training state, of the values that AllenNLP leaves out.
KEY = "exact_resume"


def random_states(device: torch.device) -> dict[str, Any]:
    """
    Returns the states of the global random number generators, as values that need no code to be
    read.
    """
    name, numbers, *rest = cast(tuple[Any, ...], np.random.get_state())
    return {
        "python": random.getstate(),
        "numpy": (name, numbers.tolist(), *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def set_random_states(states: dict[str, Any], device: torch.device) -> None:
    """Sets what `random_states` returned."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if states["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


class EpochProgress(TrainerCallback):
    """Counts the batches taken in this epoch, and sums their losses, in `totals`."""

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self.on_epoch()

    @overrides
    def on_batch(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        batch_inputs, _, batch_metrics, *_ = args
        if kwargs["is_training"]:
            self.totals["batches"] += len(batch_inputs)
            self.totals["loss"] += batch_metrics["batch_loss"]
            self.totals["reg_loss"] += batch_metrics.get("batch_reg_loss", 0.0) * len(batch_inputs)

    @overrides
    def on_epoch(self, *args: Any, **kwargs: Any) -> None:
        self.totals: dict[str, Any] = {"batches": 0, "loss": 0.0, "reg_loss": 0.0}


class _CheckpointerOf:
    """Stands for a checkpointer that has loaded a checkpoint already."""

    def __init__(self, checkpoint: TrainerCheckpoint | None) -> None:
        self._checkpoint = checkpoint

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        return self._checkpoint


@dataclass
class _ContinuedLoader:
    """
    Yields the batches of a loader. Before a checkpoint the batches have been trained on already;
    after them everything is restored from the checkpoint.
    """

    loader: DataLoader
    num_seen: int | None  # the batches before the checkpoint; `None` for all
    see: Callable[[TensorDict], None]  # called with each of them
    restore: Callable[[], None]

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[TensorDict]:
        batches = iter(self.loader)
        for batch in islice(batches, self.num_seen):
            self.see(batch)
            yield batch
        if self.num_seen is not None:
            self.restore()
            yield from batches

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)


@Trainer.register("resumable", constructor="from_partial_objects")
class ResumableTrainer(GradientDescentTrainer):
    """
    AllenNLP's trainer with exact resume: after a kill at any moment, `allennlp train --recover`
    ends with the same weights, bit for bit, as without the kill. In addition to AllenNLP's content,
    a checkpoint holds the random states of each process, at its own moment and where each epoch
    began, so that the data loader repeats its batches, and the scale of the loss in mixed
    precision. A frozen ELMo reads the batches of the first epoch again, because a vector in its
    caches depends, in its last bit, on the batch that it was computed in. A `best.th` that a kill
    left behind is repaired. Takes the same parameters as AllenNLP's.

    With checkpointer `atomic` a kill never costs a checkpoint. If a checkpoint is not of an epoch's
    end, the model's own metrics of that epoch's training, such as an F1, are of the batches after
    it.

    Raises `ConfigurationError` if the number of processes differs from the checkpoint's.
    """

    _checkpointer: Any
    _serialization_dir: str

    def __init__(
        self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **kwargs: Any
    ) -> None:
        super().__init__(model, optimizer, data_loader, **kwargs)
        self._epoch = EpochProgress(self._serialization_dir)
        self._callbacks.append(self._epoch)
        self._epoch_starts: list[dict[str, Any]] = []  # random states
        self._resumed: dict[str, Any] | None = (
            None  # the state of a checkpoint, until training reaches it
        )

    def _own_state(self) -> dict[str, Any]:
        """Returns what else a checkpoint has of each process."""
        return {}

    def _check_resume(self, own: dict[str, Any]) -> None:
        """Raises `ConfigurationError` if this training cannot go on from `_own_state`."""

    def _load_own_state(self, own: dict[str, Any]) -> None:
        """Restores what `_own_state` returned, at its place in the data."""

    @overrides
    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        own = {
            "pass": dict(self._epoch.totals),
            "random": random_states(self.cuda_device),
            "epoch_starts": self._epoch_starts,
            **self._own_state(),
        }
        processes = self._of_all_processes(own)
        state = super().get_checkpoint_state()
        if state is None:
            # AllenNLP's checkpointer records this only in the process that writes, but all
            # processes must agree on when the next checkpoint is due.
            self._checkpointer._last_save_num_epochs_completed = self._epochs_completed
            self._checkpointer._last_save_num_batches_in_epoch_completed = (
                self._batches_in_epoch_completed
            )
            return None
        scaler = None if self._scaler is None else self._scaler.state_dict()
        state.trainer_state[KEY] = {"processes": processes, "scaler": scaler}
        return state

    def _of_all_processes(self, own: Any) -> list[Any]:
        if not self._distributed:
            return [own]
        states: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(states, own)
        return states

    def _check_agreement(self, what: str, own: Any) -> None:
        """
        Raises `ConfigurationError` if processes differ: each node may have its own text and folder.
        """
        of_all = self._of_all_processes(own)
        if any(other != own for other in of_all):
            raise ConfigurationError(f"all processes must have the same {what}, but have {of_all}")

    @overrides
    def _maybe_restore_checkpoint(self) -> None:
        if self._checkpointer is None:
            return
        checkpoint = self._checkpointer.load_checkpoint()
        progress = {} if checkpoint is None else checkpoint.trainer_state
        epochs = progress.get("epochs_completed", 0)
        steps = progress.get("batches_in_epoch_completed", 0)
        self._check_agreement(
            "latest checkpoint (finished epochs, steps of the next)", [epochs, steps]
        )
        own = self._own_part(progress)
        self._restore_as_allennlp(checkpoint)
        if checkpoint is None:
            return
        if own is not None:
            if self._scaler is not None and progress[KEY]["scaler"] is not None:
                self._scaler.load_state_dict(progress[KEY]["scaler"])
            self._epoch.totals = dict(own["pass"])
            self._resumed = own
        else:
            logger.warning(
                "The checkpoint in %s was made by another trainer: training resumes from it, but "
                "not exactly as it would have continued",
                self._serialization_dir,
            )
        self._repair_best_model()
        if self._metric_tracker.should_stop_early():
            self._num_epochs = self._start_after_epochs_completed

    def _own_part(self, training_state: dict[str, Any]) -> dict[str, Any] | None:
        """
        Returns this process's part of a checkpoint. Raises `ConfigurationError` if it does not fit.
        """
        if KEY not in training_state:
            return None
        processes = training_state[KEY]["processes"]
        if len(processes) != self._world_size:
            raise self._refusal(
                f"it was made by {len(processes)} process(es), and now there are {self._world_size}"
            )
        rank = torch.distributed.get_rank() if self._distributed else 0
        own = processes[rank]
        self._check_resume(own)
        return own

    def _refusal(self, change: str) -> ConfigurationError:
        return ConfigurationError(
            f"cannot resume from the checkpoint in {self._serialization_dir}: {change}"
        )

    def _restore_as_allennlp(self, checkpoint: TrainerCheckpoint | None) -> None:
        """Lets AllenNLP restore its part, from a checkpoint that is loaded already."""
        checkpointer = self._checkpointer
        average = self._moving_average
        parameters = [] if average is None else average._parameters
        self._checkpointer = _CheckpointerOf(checkpoint)
        try:
            super()._maybe_restore_checkpoint()
        finally:
            self._checkpointer = checkpointer
        if average is not None:
            # AllenNLP's `exponential` would average the checkpoint's parameters, on the CPU.
            average._parameters = parameters
            average._shadows = move_to_device(average._shadows, self.cuda_device)
            average._backups = move_to_device(average._backups, self.cuda_device)

    def _repair_best_model(self) -> None:
        """
        AllenNLP writes `best.th` after the checkpoint of the same model, and records that in the
        next one: a kill in between leaves an older best model, or none. Raises `BiLmError` if the
        best model is damaged that an earlier epoch wrote.
        """
        path = os.path.join(self._serialization_dir, "best.th")
        is_end_of_epoch = self._start_after_batches_in_epoch_completed == 0
        is_best = is_end_of_epoch and self._metric_tracker.is_best_so_far()
        if not is_best and self._best_model_filename is None:
            return
        self._best_model_filename = path  # the folder may have been moved
        if not self._primary:
            return
        if not is_best:
            load_plain(path, path)  # AllenNLP reads it at the end of the training
        elif self._moving_average is None:
            self._save_model_state(path)
        else:
            self._moving_average.assign_average_value()
            self._save_model_state(path)
            self._moving_average.restore()

    @overrides
    def _save_model_state(self, path: str) -> None:
        save_tensors(self.model.state_dict(), path)

    @overrides
    def _train_epoch(self, epoch: int) -> dict[str, float]:
        if self._resumed is not None:
            starts = [*self._resumed["epoch_starts"], self._resumed["random"]]
            set_random_states(starts[epoch], self.cuda_device)
        self._epoch_starts.append(random_states(self.cuda_device))
        is_before_checkpoint = epoch < self._start_after_epochs_completed
        # Only in the first epoch may a frozen ELMo fill its caches.
        see = self._fill_caches if epoch == 0 else _ignore
        loader = self.data_loader
        if self._resumed is not None:
            num_seen = None if is_before_checkpoint else self._epoch.totals["batches"]
            continued = _ContinuedLoader(loader, num_seen, see, self._reach_checkpoint)
            self.data_loader = cast(DataLoader, continued)
        try:
            metrics = super()._train_epoch(epoch)
        finally:
            self.data_loader = loader
        if not is_before_checkpoint:
            self._complete_metrics(metrics)
        elif self._resumed is not None:
            self._repeat_validation(see)
        return metrics

    def _complete_metrics(self, metrics: dict[str, Any]) -> None:
        """Sets the losses of the whole epoch: AllenNLP forgets the batches before a kill."""
        if "loss" not in metrics:
            # The checkpoint was made after the last batch, so AllenNLP trained on none.
            metrics.update(util.get_metrics(self.model, 0.0, None, None, None, 0, reset=True))
        steps = dist_reduce_sum(self._batches_in_epoch_completed)
        if not steps:
            raise ConfigurationError("the training data have no instances")
        metrics["loss"] = dist_reduce_sum(self._epoch.totals["loss"]) / steps
        if self.model.get_regularization_penalty() is not None:
            metrics["reg_loss"] = dist_reduce_sum(self._epoch.totals["reg_loss"]) / steps

    def _repeat_validation(self, see: Callable[[TensorDict], None]) -> None:
        """Reads the batches of a validation, because a loader may shuffle its last order."""
        self._pytorch_model.eval()
        for batch in self._validation_data_loader or ():
            see(batch)

    def _fill_caches(self, batch: TensorDict) -> None:
        """
        Runs the model as in the first epoch, if it has a frozen ELMo; counts and draws nothing.
        """
        elmos = [each for each in self.model.modules() if isinstance(each, ElmoRepresentations)]
        if all(each.bilm.is_trainable for each in elmos):
            return
        states = random_states(self.cuda_device)
        with torch.no_grad(), torch.autocast("cuda", enabled=self._use_amp):
            self.model(**batch)
        self.model.get_metrics(reset=True)
        set_random_states(states, self.cuda_device)  # the data loader may draw from them

    def _reach_checkpoint(self) -> None:
        """Goes on from the checkpoint."""
        assert self._resumed is not None
        set_random_states(self._resumed["random"], self.cuda_device)
        self._load_own_state(self._resumed)
        self._resumed = None

    @overrides
    def _try_train(self) -> tuple[dict[str, Any], int]:
        metrics, epoch = super()._try_train()
        if self._resumed is not None:  # every epoch was over
            self._reach_checkpoint()
        path = os.path.join(self._serialization_dir, f"metrics_epoch_{epoch}.json")
        if "epoch" not in metrics and os.path.exists(path):
            # AllenNLP trained no epoch, so the last one's metrics are missing.
            with open(path, encoding="utf-8") as file:
                metrics = {**json.load(file), **metrics}
        return metrics, epoch


def _ignore(batch: TensorDict) -> None:
    """Does nothing with a batch."""
