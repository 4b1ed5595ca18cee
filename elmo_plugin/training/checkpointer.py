"""Checkpoints that are written completely or not at all."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from allennlp.common.checks import ConfigurationError
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.trainer import Trainer, TrainerCheckpoint
from overrides import overrides

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import remove_leftovers
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors

logger = logging.getLogger(__name__)

FILE_SUFFIXES = (
    ".th",
    "_w*.th",
)  # of file names; the second if each process writes a part of the state


@Checkpointer.register("atomic")
class AtomicCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, with the same parameters, made safe against kills, full disks and
    damaged files, for any trainer. Each file of a checkpoint is written under another name, flushed
    to the disk and then renamed, the model last. Older checkpoints are removed only when the new
    one is complete. One that cannot be read, as another checkpointer leaves it when it is killed,
    is set aside for the one before it, or the first one for a new start.
    """

    @property
    @overrides
    def _is_primary(self) -> bool:
        """
        Whether this process is the one of its node that changes the folder: each node has its own.
        """
        return self._rank % int(os.environ.get("ALLENNLP_PROCS_PER_NODE", self._rank + 1)) == 0

    @overrides
    def save_checkpoint(self, trainer: Trainer) -> None:
        """Raises `OSError`, naming the last good checkpoint, if this one cannot be written."""
        state = trainer.get_checkpoint_state()
        if state is None:  # not the process that writes
            return
        point = (
            state.trainer_state["epochs_completed"],
            state.trainer_state["batches_in_epoch_completed"],
        )
        try:
            save_tensors(state.trainer_state, self._training_state_path(*point))
            save_tensors(state.model_state, self._model_state_path(*point))
        except OSError as error:
            self._remove_without_model()
            latest = self.find_latest_checkpoint()
            good = f"the last good checkpoint is {latest[0]}" if latest else "no earlier one exists"
            raise OSError(error.errno, f"{error.strerror or error}; {good}") from error
        # Both files exist already, so AllenNLP only deletes old checkpoints.
        super().save_checkpoint(cast(Trainer, SimpleNamespace(get_checkpoint_state=lambda: state)))

    @overrides
    def load_checkpoint(self) -> TrainerCheckpoint | None:
        """
        Raises `ConfigurationError` if there are several checkpoints, but none of them can be read.
        """
        if (
            self._is_primary
        ):  # a killed process may have left half-written or half-removed checkpoints
            for name in (
                "model_state_*.th",
                "training_state_*.th",
                "best.th",
                "config.json",
                "vocabulary",
            ):
                remove_leftovers(self._serialization_dir, name)
            self._remove_without_model()
        damaged: dict[tuple[int, int], BiLmError] = {}
        checkpoint = None
        for point in sorted(super()._find_all_checkpoints(), reverse=True):
            try:
                paths = self._model_state_path(*point), self._training_state_path(*point)
                checkpoint = TrainerCheckpoint(
                    *(load_plain(path, os.path.basename(path)) for path in paths)
                )
                break
            except BiLmError as error:
                damaged[point] = error
        if checkpoint is None and len(damaged) > 1:
            files = [f"{self._model_state_path(*point)} ({damaged[point]})" for point in damaged]
            reason = next(iter(damaged.values()))
            raise ConfigurationError(
                f"none of the checkpoints can be read: {', '.join(files)}"
            ) from reason
        for point, damage in damaged.items():
            logger.warning(
                "the checkpoint %s is incomplete or damaged (%s): its files are renamed to "
                "damaged_*, and training %s",
                self._model_state_path(*point),
                damage,
                "resumes from the checkpoint before" if checkpoint else "starts again",
            )
            if self._is_primary:
                for path in self._files(*point):
                    path.replace(path.with_name(f"damaged_{path.name}"))
        return checkpoint

    def _remove_without_model(self) -> None:
        """Removes training states whose model was not written, or is removed already."""
        complete = self._find_all_checkpoints()
        for path in Path(self._serialization_dir).glob("training_state_*.th"):
            if self._parse_training_state_path(path) not in complete:
                path.unlink()

    def _files(self, epochs_completed: int, batches_in_epoch_completed: int) -> list[Path]:
        """Returns the files of a checkpoint, of all processes, the models first."""
        point = f"e{epochs_completed}_b{batches_in_epoch_completed}"
        kinds = ("model_state", "training_state")
        names = [f"{kind}_{point}{end}" for kind in kinds for end in FILE_SUFFIXES]
        return [path for name in names for path in Path(self._serialization_dir).glob(name)]

    @overrides
    def _find_all_checkpoints(self) -> set[tuple[int, int]]:
        """Returns epochs and batches of the complete checkpoints."""
        points = super()._find_all_checkpoints()
        return {point for point in points if os.path.isfile(self._training_state_path(*point))}

    @overrides
    def _remove_checkpoint(self, epochs_completed: int, batches_in_epoch_completed: int) -> None:
        for path in self._files(epochs_completed, batches_in_epoch_completed):
            path.unlink()
