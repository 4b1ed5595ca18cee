"""A trainer that resumes exactly after a kill."""

import json
import logging
import os
from types import SimpleNamespace
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, TensorDict
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum, move_to_device
from allennlp.training import util
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.moving_average import ExponentialMovingAverage
from allennlp.training.trainer import Trainer, TrainerCheckpoint
from overrides import overrides

from elmo_plugin.common.formats.torch_files import save_tensors
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.language_model.training_state import (
    EpochProgress,
    random_states,
    seed_by_rank,
    set_random_states,
)

logger = logging.getLogger(__name__)

KEY = "exact_resume"  # of the values that AllenNLP leaves out, in a checkpoint's training state


@Trainer.register("bilm", constructor="from_partial_objects")
class BiLmTrainer(GradientDescentTrainer):
    """
    AllenNLP's trainer with exact resume: after a kill at any moment, `allennlp train --recover` ends with the
    same weights, bit for bit, and the same metrics as without the kill. In addition to AllenNLP's content, a
    checkpoint holds the place in the data, the states of the LSTMs and of the metrics, the random states of
    each process, and the scale of the loss in mixed precision. A `best.th` that a kill left behind is
    repaired. In distributed training each process draws its own random numbers, for example in dropout.

    For model `bilm` with data loader `bilm_stream`; with checkpointer `atomic` a kill never costs a
    checkpoint. Takes the same parameters as AllenNLP's, but not its moving average `exponential`, because it
    does not resume: `ema` is the same average.

    Raises `ConfigurationError` for other models, data loaders and averages, and if the text, its vocabulary,
    its division into batches and among processes, or the validation text differs from the checkpoint's.
    """

    model: BiLmLanguageModel
    data_loader: BiLmStreamLoader
    _checkpointer: Any
    _serialization_dir: str

    def __init__(
        self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **kwargs: Any
    ) -> None:
        for part, methods in (
            (model, ("stream_state", "load_stream_state")),
            (data_loader, ("progress", "resume", "fingerprint")),
        ):
            if not all(hasattr(part, method) for method in methods):
                raise ConfigurationError(
                    "trainer `bilm` is for model `bilm` with data loader `bilm_stream`, "
                    f"but got {type(part).__name__}: it cannot resume"
                )
        if type(kwargs.get("moving_average")) is ExponentialMovingAverage:
            raise ConfigurationError(
                "trainer `bilm` cannot resume the moving average `exponential`; use `ema`, the same average"
            )
        super().__init__(model, optimizer, data_loader, **kwargs)
        if self.model.num_negatives is not None:
            self.data_loader.check_order(self.model.vocab)
        self._epoch = EpochProgress(self._serialization_dir)
        self._callbacks.append(self._epoch)
        self._states_to_restore: dict[str, Any] | None = None
        self._batches_of_step = 0

    @overrides
    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        processes = self._of_all_processes(
            {
                "finished_passes": self.data_loader.progress()[: self._epochs_completed],
                "pass": dict(self._epoch.totals),
                "random": random_states(self.cuda_device),
                "streams": {
                    name: value.cpu() if isinstance(value, torch.Tensor) else value
                    for name, value in self.model.stream_state().items()
                },
            }
        )
        state = super().get_checkpoint_state()
        if state is None:
            # AllenNLP's checkpointer records this only in the process that writes; all must agree on when the
            # next checkpoint is due.
            self._checkpointer._last_save_num_epochs_completed = self._epochs_completed
            self._checkpointer._last_save_num_batches_in_epoch_completed = self._batches_in_epoch_completed
            return None
        state.trainer_state[KEY] = {
            "fingerprint": self.data_loader.fingerprint,
            "validation_text": self._validation_text(),
            "processes": processes,
            "scaler": None if self._scaler is None else self._scaler.state_dict(),
        }
        return state

    def _of_all_processes(self, own: Any) -> list[Any]:
        if not self._distributed:
            return [own]
        states: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(states, own)
        return states

    @overrides
    def _maybe_restore_checkpoint(self) -> None:
        if self._distributed:
            seed_by_rank(torch.distributed.get_rank())
        self._check_agreement("text and options of the data loader", self.data_loader.fingerprint)
        if self._checkpointer is None:
            return
        checkpoint = self._checkpointer.load_checkpoint()
        progress = {} if checkpoint is None else checkpoint.trainer_state
        point = [progress.get(name, 0) for name in ("epochs_completed", "batches_in_epoch_completed")]
        self._check_agreement("latest checkpoint (finished epochs, steps of the next)", point)
        if checkpoint is not None and KEY in checkpoint.trainer_state:
            self._check_data(checkpoint.trainer_state[KEY])
        self._restore_as_allennlp(checkpoint)
        if checkpoint is None:
            return
        if KEY in checkpoint.trainer_state:
            self._prepare_resume(checkpoint.trainer_state[KEY])
        else:
            logger.warning(
                "The checkpoint in %s was not made by trainer `bilm`: training resumes from it, but not "
                "exactly as it would have continued",
                self._serialization_dir,
            )
        self._repair_best_model()
        if self._metric_tracker.should_stop_early():
            self._num_epochs = self._start_after_epochs_completed

    def _restore_as_allennlp(self, checkpoint: TrainerCheckpoint | None) -> None:
        checkpointer = self._checkpointer
        self._checkpointer = SimpleNamespace(load_checkpoint=lambda: checkpoint)
        try:
            super()._maybe_restore_checkpoint()
        finally:
            self._checkpointer = checkpointer

    def _check_agreement(self, what: str, own: Any) -> None:
        """Raises `ConfigurationError` if processes differ: each node may have its own text and folder."""
        of_all = self._of_all_processes(own)
        if any(other != own for other in of_all):
            raise ConfigurationError(f"all processes must have the same {what}, but have {of_all}")

    def _check_data(self, state: dict[str, Any]) -> None:
        before, now, parts = len(state["processes"]), self._world_size, self.data_loader.fingerprint
        if before != now:
            change = f"it was made by {before} process(es), and now there are {now}"
        elif state["validation_text"] not in (None, self._validation_text()):
            change = "the validation text has changed; put it back, or train in a new folder"
        elif changed := [name for name, part in parts.items() if state["fingerprint"][name] != part]:
            change = f"the {' and the '.join(changed)} has changed; put it back, or train in a new folder"
        else:
            return
        raise ConfigurationError(f"cannot resume from the checkpoint in {self._serialization_dir}: {change}")

    def _validation_text(self) -> str | None:
        """Returns the fingerprint of the text by which the best epoch is chosen."""
        return getattr(self._validation_data_loader, "fingerprint", {}).get("text")

    def _prepare_resume(self, state: dict[str, Any]) -> None:
        """
        Lets the data loader yield batches without data while AllenNLP only skips them. The states are
        restored just before the first new batch.
        """
        own = state["processes"][torch.distributed.get_rank() if self._distributed else 0]
        if self._scaler is not None and state["scaler"] is not None:
            self._scaler.load_state_dict(state["scaler"])
        self._epoch.totals = dict(own["pass"])
        self._states_to_restore = own
        self.data_loader.resume(
            own["finished_passes"], self._epoch.totals["batches"], then=self._restore_states
        )

    def _restore_states(self) -> None:
        if self._states_to_restore is not None:
            set_random_states(self._states_to_restore["random"], self.cuda_device)
            self.model.load_stream_state(move_to_device(self._states_to_restore["streams"], self.cuda_device))
            self._states_to_restore = None

    def _repair_best_model(self) -> None:
        """
        AllenNLP writes `best.th` after the checkpoint of the same model, and records that in the next one: a
        kill in between leaves an older best model, or none.
        """
        path = os.path.join(self._serialization_dir, "best.th")
        is_of_an_epochs_end = self._start_after_batches_in_epoch_completed == 0
        is_best = is_of_an_epochs_end and self._metric_tracker.is_best_so_far()
        if is_best or self._best_model_filename is not None:  # the folder may have been moved
            self._best_model_filename = path
        if is_best and self._primary:
            if self._moving_average is not None:
                self._moving_average.assign_average_value()
            self._save_model_state(path)
            if self._moving_average is not None:
                self._moving_average.restore()

    @overrides
    def _save_model_state(self, path: str) -> None:
        save_tensors(self.model.state_dict(), path)

    @overrides
    def batch_outputs(self, batch: TensorDict, for_training: bool) -> dict[str, torch.Tensor]:
        self._batches_of_step += for_training
        return super().batch_outputs(batch, for_training)

    @overrides
    def rescale_gradients(self) -> float | None:
        """Averages the gradients of a step's batches (AllenNLP sums them if the loss is scaled)."""
        if self._scaler is not None and self._batches_of_step > 1:
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad /= self._batches_of_step
        self._batches_of_step = 0
        return super().rescale_gradients()

    @overrides
    def _train_epoch(self, epoch: int) -> dict[str, float]:
        metrics = super()._train_epoch(epoch)
        if self._epochs_completed < self._start_after_epochs_completed:
            return metrics
        if self._states_to_restore is not None:
            # The checkpoint was of the last batch: AllenNLP trained nothing and lacks metrics for it.
            self._restore_states()
            metrics.update(util.get_metrics(self.model, 0.0, None, None, None, 0, reset=True))
        # AllenNLP sums losses since the start of the process only.
        steps = dist_reduce_sum(self._batches_in_epoch_completed)
        metrics["loss"] = dist_reduce_sum(self._epoch.totals["loss"]) / steps
        if self.model.get_regularization_penalty() is not None:
            metrics["reg_loss"] = dist_reduce_sum(self._epoch.totals["reg_loss"]) / steps
        return metrics

    @overrides
    def _try_train(self) -> tuple[dict[str, Any], int]:
        metrics, epoch = super()._try_train()
        path = os.path.join(self._serialization_dir, f"metrics_epoch_{epoch}.json")
        if "epoch" not in metrics and os.path.exists(path):
            # Every epoch was over: AllenNLP trained none and lacks metrics of the last.
            with open(path, encoding="utf-8") as file:
                metrics = {**json.load(file), **metrics}
        return metrics, epoch
