"""A trainer that resumes exactly after a kill, within streams of text."""

import random
from typing import Any

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader
from allennlp.models import Model
from allennlp.nn.util import move_to_device
from allennlp.training.trainer import Trainer
from overrides import overrides

from elmo_plugin.common.process import keep_freed_memory
from elmo_plugin.language_model.loader import BiLmStreamLoader
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.training import ResumableTrainer


@Trainer.register("bilm", constructor="from_partial_objects")
class BiLmTrainer(ResumableTrainer):
    """
    The trainer `resumable` for model `bilm` with data loader `bilm_stream`. Its checkpoints also
    hold the place in the data, and the states of the LSTMs and of the metrics. In distributed
    training each process draws its own random numbers, for example in dropout.

    Raises `ConfigurationError` for other models and data loaders, and if the text, its vocabulary,
    its division into batches and among processes, or the validation text differs from the
    checkpoint's.
    """

    model: BiLmLanguageModel
    data_loader: BiLmStreamLoader

    def __init__(
        self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **kwargs: Any
    ) -> None:
        # Any model and data loader with the methods that this trainer calls will do.
        if not hasattr(model, "stream_state"):
            raise _not_for(model)
        if not hasattr(data_loader, "progress"):
            raise _not_for(data_loader)
        super().__init__(model, optimizer, data_loader, **kwargs)
        # Each batch reuses the memory that the batch before has freed. If it went back to Linux, it
        # would be filled with zeros before each use, and that takes a tenth of the training's time.
        keep_freed_memory()
        if self.model.num_negatives is not None:
            self.data_loader.check_order(self.model.vocab)  # negatives are drawn by frequency

    @overrides
    def _extra_state(self) -> dict[str, Any]:
        """
        Returns the place in the data, the states of the model that are no parameters, and the
        fingerprints of the data: a training with other fingerprints cannot resume this one.
        """
        # After the last batch of an epoch, the loader may already count the epoch as finished when
        # the trainer does not yet.
        finished_passes = self.data_loader.progress()[: self._epochs_completed]
        return {
            "finished_passes": finished_passes,
            "streams": move_to_device(self.model.stream_state(), torch.device("cpu")),
            "fingerprint": self.data_loader.fingerprint,
            "validation_text": self._validation_fingerprint(),
        }

    def _validation_fingerprint(self) -> str | None:
        """
        Returns the fingerprint of the validation text, because the best epoch is chosen by that
        text; `None` without validation, or if another loader reads the text.
        """
        fingerprint = getattr(self._validation_data_loader, "fingerprint", None)
        if fingerprint is None:
            return None
        return fingerprint.get("text")

    @overrides
    def _check_resume(self, process_state: dict[str, Any]) -> None:
        """
        Raises `ConfigurationError` if anything that decides the batches has changed since the
        checkpoint, or if the validation text has. A training that had no validation may get one.
        """
        before = process_state["fingerprint"]
        now = self.data_loader.fingerprint
        all_names = now | before  # a name may be missing on either side
        changed = [name for name in all_names if before.get(name) != now.get(name)]
        had_validation = process_state["validation_text"] is not None
        same_validation = process_state["validation_text"] == self._validation_fingerprint()
        if had_validation and not same_validation:
            changed.append("validation text")
        if changed:
            names = " and the ".join(changed)
            raise self._resume_error(
                f"the {names} has changed; put it back, or train in a new folder"
            )

    @overrides
    def _load_extra_state(self, process_state: dict[str, Any]) -> None:
        """Restores the states of the model. The place in the data is restored earlier."""
        self.model.load_stream_state(move_to_device(process_state["streams"], self.cuda_device))

    @overrides
    def _maybe_restore_checkpoint(self) -> None:
        """
        Prepares this process for its training: seeds its random numbers, and restores the latest
        checkpoint, if there is one, with the place in the data.
        """
        if self._distributed:
            _seed_process(torch.distributed.get_rank())  # a checkpoint replaces the random states
        self._check_same_everywhere(
            "text and options of the data loader", self.data_loader.fingerprint
        )
        super()._maybe_restore_checkpoint()
        if self._state_to_resume is not None:
            # AllenNLP skips the batches that were done before the stop. The loader yields empty
            # ones in their place, so that no time is lost.
            self.data_loader.resume(
                self._state_to_resume["finished_passes"], self._epoch_progress.totals["batches"]
            )
            if isinstance(self._validation_data_loader, BiLmStreamLoader):
                # With `shuffle`, each pass over the validation data has another order, so the
                # loader must know how many passes there were: one for each finished epoch that was
                # validated. `ResumableTrainer` repeats these passes, and they yield no batch.
                validates_epochs = self._state_to_resume["validates_epochs"]
                finished_epochs = validates_epochs[: self._start_after_epochs_completed]
                batches_of_passes = [0 for is_validated in finished_epochs if is_validated]
                self._validation_data_loader.resume(batches_of_passes, 0)


def _seed_process(rank: int) -> None:
    """
    Seeds the random numbers of a process of distributed training. AllenNLP gives all processes the
    same seed, but they should not drop out the same units.
    """
    if rank == 0:
        return  # it draws the same numbers as it would alone
    seed = (torch.initial_seed() + rank) % 2**32
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _not_for(part: Model | DataLoader) -> ConfigurationError:
    """Returns the error for a model or a data loader that this trainer cannot use."""
    return ConfigurationError(
        "trainer `bilm` is for model `bilm` with data loader `bilm_stream`, "
        f"but got {type(part).__name__}; `resumable` is for any"
    )
