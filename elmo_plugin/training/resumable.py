"""A trainer that resumes exactly after a kill, for any model."""

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
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
from torch import Tensor

from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.common.logs import get_logger
from elmo_plugin.embedding import ElmoRepresentations
from elmo_plugin.training.recovery import check_finished_metrics
from elmo_plugin.training.schedules import averaged_weights

logger = get_logger(__name__)

# The key, in a checkpoint's training state, of the values that AllenNLP leaves out.
KEY = "exact_resume"


def random_states(device: torch.device) -> dict[str, Any]:
    """
    Returns the states of the global random number generators, as plain values and tensors that
    `load_plain` can read.
    """
    numpy_state = cast(tuple[Any, ...], np.random.get_state())
    algorithm, numbers, position, has_gauss, cached_gaussian = numpy_state
    states = {
        "python": random.getstate(),
        # A list, because `load_plain` cannot read arrays.
        "numpy": (algorithm, numbers.tolist(), position, has_gauss, cached_gaussian),
        "torch": torch.get_rng_state(),
        "cuda": None,
    }
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: dict[str, Any], device: torch.device) -> None:
    """
    Sets what `random_states` returned. The state of a GPU is left out if there is none in `states`
    or the training now runs on the CPU.
    """
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if states["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


class EpochProgress(TrainerCallback):
    """Counts the batches of this epoch that were trained on, and sums their losses, in `totals`."""

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
        # then the sum of their losses, but `batch_reg_loss` is the penalty of only one of them; the
        # others have the same.
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


class _CheckpointerOf:
    """Stands for a checkpointer that has loaded a checkpoint already."""

    def __init__(self, checkpoint: TrainerCheckpoint | None) -> None:
        self._checkpoint = checkpoint

    def load_checkpoint(self) -> TrainerCheckpoint | None:
        return self._checkpoint


@dataclass
class _ContinuedLoader:
    """
    Yields the batches of an epoch that had begun before a checkpoint was made. AllenNLP trains only
    on those after the checkpoint.
    """

    loader: DataLoader
    # How many batches come before the checkpoint. `None`: all, as it was made in a later epoch.
    num_seen: int | None
    see: Callable[[TensorDict], None]  # is called with each batch before the checkpoint
    reach_checkpoint: Callable[[], None]  # is called between these and the others

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[TensorDict]:
        batches = iter(self.loader)
        for batch in islice(batches, self.num_seen):
            self.see(batch)
            yield batch
        if self.num_seen is None:
            return  # the checkpoint comes in a later epoch
        self.reach_checkpoint()
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
        self._epoch = EpochProgress(self._serialization_dir)
        self._callbacks.append(self._epoch)
        # The random states at the start of each epoch so far.
        self._epoch_starts: list[dict[str, Any]] = []
        # This process's part of the checkpoint from which the training resumes, until the data
        # loader has reached its place.
        self._resumed: dict[str, Any] | None = None

    def _own_state(self) -> dict[str, Any]:
        """
        Returns further values for a checkpoint to hold for each process. Here there are none; a
        subclass may have some, and restores them in `_load_own_state`.
        """
        return {}

    def _check_resume(self, own: dict[str, Any]) -> None:
        """
        Raises `ConfigurationError` if this training cannot go on from what `_own_state` returned
        for the checkpoint.
        """

    def _load_own_state(self, own: dict[str, Any]) -> None:
        """Restores what `_own_state` returned, when the data loader has reached the checkpoint."""

    @overrides
    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        own = {
            "pass": dict(self._epoch.totals),  # the progress of this epoch
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
        scaler = None
        if self._scaler is not None:
            scaler = self._scaler.state_dict()
        state.trainer_state[KEY] = {"processes": processes, "scaler": scaler}
        return state

    def _of_all_processes(self, own: Any) -> list[Any]:
        """Returns the value that each process passes as `own`, by rank."""
        if not self._distributed:
            return [own]
        states: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(states, own)
        return states

    def _check_agreement(self, what: str, own: Any) -> None:
        """
        Raises `ConfigurationError` if `own` is not the same in all processes: each node may have
        its own text and folder.
        """
        values = self._of_all_processes(own)
        if any(value != own for value in values):
            raise ConfigurationError(f"all processes must have the same {what}, but have {values}")

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
        self._check_agreement(
            "latest checkpoint (finished epochs, steps of the next)", [epochs, steps]
        )
        own = self._own_part(training_state)  # may refuse the checkpoint, so before any change
        self._restore_by_allennlp(checkpoint)
        if checkpoint is None:
            return  # the training begins
        if own is None:
            logger.warning(
                "The checkpoint in %s was made by another trainer: training resumes from it, but "
                "not exactly as it would have continued",
                self._serialization_dir,
            )
        else:
            scaler_state = training_state[KEY]["scaler"]
            if self._scaler is not None and scaler_state is not None:
                self._scaler.load_state_dict(scaler_state)
            self._epoch.totals = dict(own["pass"])
            self._resumed = own
        check_finished_metrics(
            Path(self._serialization_dir), num_epochs=self._start_after_epochs_completed
        )
        self._repair_best_model()
        if self._metric_tracker.should_stop_early():
            # The training had stopped early already. Without epochs left it does not go on.
            self._num_epochs = self._start_after_epochs_completed

    def _own_part(self, training_state: dict[str, Any]) -> dict[str, Any] | None:
        """
        Returns this process's part of a checkpoint, or `None` if another trainer made the
        checkpoint. Raises `ConfigurationError` if this training cannot go on from it.
        """
        if KEY not in training_state:
            return None
        processes = training_state[KEY]["processes"]
        if len(processes) != self._world_size:
            raise self._refusal(
                f"it was made by {len(processes)} process(es), and now there are {self._world_size}"
            )
        rank = 0
        if self._distributed:
            rank = torch.distributed.get_rank()
        own = processes[rank]
        self._check_resume(own)
        return own

    def _refusal(self, change: str) -> ConfigurationError:
        """Returns the error for a training whose checkpoint was made in another way."""
        return ConfigurationError(
            f"cannot resume from the checkpoint in {self._serialization_dir}: {change}"
        )

    def _restore_by_allennlp(self, checkpoint: TrainerCheckpoint | None) -> None:
        """Lets AllenNLP restore its part, from a checkpoint that is loaded already."""
        average = self._moving_average
        averaged_parameters: list[tuple[str, Tensor]] = []
        if average is not None:
            averaged_parameters = average._parameters
        checkpointer = self._checkpointer
        self._checkpointer = _CheckpointerOf(checkpoint)
        try:
            super()._maybe_restore_checkpoint()
        finally:
            self._checkpointer = checkpointer
        if average is not None:
            # AllenNLP's `exponential` has replaced the parameters that it averages by the
            # checkpoint's copies, and its averages by tensors on the CPU.
            average._parameters = averaged_parameters
            average._shadows = move_to_device(average._shadows, self.cuda_device)
            average._backups = move_to_device(average._backups, self.cuda_device)

    def _repair_best_model(self) -> None:
        """
        Writes `best.th` again if the restored model is the best one. AllenNLP writes that file
        after the checkpoint, and records it in the next checkpoint: a kill in between leaves an
        older best model, or none.

        Raises `BiLmError` if an earlier epoch wrote the best model, and the file is damaged.
        """
        path = os.path.join(self._serialization_dir, "best.th")
        is_end_of_epoch = self._start_after_batches_in_epoch_completed == 0
        is_best = is_end_of_epoch and self._metric_tracker.is_best_so_far()
        if not is_best and self._best_model_filename is None:
            return  # no epoch has a best model yet
        self._best_model_filename = path  # the folder may have been moved
        if not self._primary:
            return
        if not is_best:
            # Read only to raise an error now: AllenNLP reads it at the end of the training.
            load_plain(path, name=path)
            return
        with averaged_weights(self._moving_average):
            self._save_model_state(path)

    @overrides
    def _save_model_state(self, path: str) -> None:
        save_tensors(self.model.state_dict(), path)

    @overrides
    def _train_epoch(self, epoch: int) -> dict[str, float]:
        if self._resumed is not None:
            return self._continue_epoch(epoch, self._resumed)
        self._epoch_starts.append(random_states(self.cuda_device))
        metrics = super()._train_epoch(epoch)
        # If another trainer made the checkpoint, AllenNLP calls this for earlier epochs as well,
        # and trains on none of their batches: they have no losses.
        is_skipped = epoch < self._start_after_epochs_completed
        if not is_skipped:
            self._set_losses_of_whole_epoch(metrics)
        return metrics

    def _continue_epoch(self, epoch: int, checkpoint: dict[str, Any]) -> dict[str, float]:
        """
        Trains on the rest of the epoch in which the checkpoint was made. Epochs before it are only
        read again, so that the data loader and the caches of a frozen ELMo get into the same state.
        """
        self._restore_start(epoch, checkpoint)
        was_finished = epoch < self._start_after_epochs_completed
        num_seen = None
        if not was_finished:
            num_seen = self._epoch.totals["batches"]
        see = _ignore
        if epoch == 0:  # the vectors that a frozen ELMo stores are of the first epoch
            see = self._fill_caches
        loader = self.data_loader
        continued = _ContinuedLoader(loader, num_seen, see, self._reach_checkpoint)
        self.data_loader = cast(DataLoader, continued)
        try:
            metrics = super()._train_epoch(epoch)
        finally:
            self.data_loader = loader
        if was_finished:
            self._repeat_validation(see)
        else:
            self._set_losses_of_whole_epoch(metrics)
        return metrics

    def _restore_start(self, epoch: int, checkpoint: dict[str, Any]) -> None:
        """
        Sets the random states with which an epoch began, so that its batches are the same, and
        keeps them for the next checkpoint.
        """
        if epoch < len(checkpoint["epoch_starts"]):
            states = checkpoint["epoch_starts"][epoch]
        else:  # the checkpoint was made just before this epoch
            states = checkpoint["random"]
        set_random_states(states, self.cuda_device)
        self._epoch_starts.append(random_states(self.cuda_device))

    def _set_losses_of_whole_epoch(self, metrics: dict[str, Any]) -> None:
        """
        Sets the losses of the whole epoch in its metrics: AllenNLP's count only the batches since
        the resume.
        """
        if "loss" not in metrics:
            # The checkpoint was made after the last batch, so AllenNLP trained on none.
            trained_on_none = util.get_metrics(
                self.model,
                total_loss=0.0,
                total_reg_loss=None,
                batch_loss=None,
                batch_reg_loss=None,
                num_batches=0,
                reset=True,
            )
            metrics.update(trained_on_none)
        steps = dist_reduce_sum(self._batches_in_epoch_completed)
        if steps == 0:
            raise ConfigurationError("the training data have no instances")
        metrics["loss"] = dist_reduce_sum(self._epoch.totals["loss"]) / steps
        if self.model.get_regularization_penalty() is not None:
            metrics["reg_loss"] = dist_reduce_sum(self._epoch.totals["reg_loss"]) / steps

    def _repeat_validation(self, see: Callable[[TensorDict], None]) -> None:
        """
        Reads the batches of an epoch's validation again. A loader may shuffle them, starting from
        the order of the time before, so each order depends on how often they were read.
        """
        self._pytorch_model.eval()
        if self._validation_data_loader is not None:
            for batch in self._validation_data_loader:
                see(batch)

    def _fill_caches(self, batch: TensorDict) -> None:
        """
        Runs the model on a batch, as the first epoch did, if it has a frozen ELMo. Its cache, if it
        has one, then stores the vectors. Neither the metrics nor the random states change.
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
        assert self._resumed is not None
        set_random_states(self._resumed["random"], self.cuda_device)
        self._load_own_state(self._resumed)
        self._resumed = None

    @overrides
    def _try_train(self) -> tuple[dict[str, Any], int]:
        metrics, epoch = super()._try_train()
        # If all epochs were finished when the checkpoint was made, AllenNLP has trained no epoch.
        # Then the checkpoint is not reached yet, and the metrics of the last epoch are missing.
        if self._resumed is not None:
            self._reach_checkpoint()
        path = os.path.join(self._serialization_dir, f"metrics_epoch_{epoch}.json")
        if "epoch" not in metrics and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                metrics_of_epoch = json.load(file)
            metrics = {**metrics_of_epoch, **metrics}
        return metrics, epoch


def _ignore(batch: TensorDict) -> None:
    """Does nothing with a batch."""
