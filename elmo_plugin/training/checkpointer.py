"""Checkpoints that are written completely or not at all."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from allennlp.common.checks import ConfigurationError
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.trainer import Trainer, TrainerCheckpoint
from overrides import overrides

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.files import remove_leftovers
from elmo_plugin.common.formats.torch_files import load_plain, save_tensors
from elmo_plugin.common.logs import get_logger

logger = get_logger(__name__)

# How the names of a checkpoint's files end. The second pattern is for a sharded training, in
# which each process ("worker") writes its own part of the state.
_FILE_SUFFIXES = (".th", "_w*.th")
# The files and folders of a training that a killed process may have left unfinished.
_WRITTEN_WHOLE = ("model_state_*.th", "training_state_*.th", "best.th", "config.json", "vocabulary")

# A moment of a training: the number of finished epochs, and of finished batches in the next one.
Point = tuple[int, int]


class _StateHolder:
    """Stands for a trainer, where AllenNLP asks it only for a state that was taken before."""

    def __init__(self, state: TrainerCheckpoint) -> None:
        self._state = state

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        return self._state


@Checkpointer.register("atomic")
class AtomicCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, with the same parameters, made safe against kills, full disks and
    damaged files, for any trainer. Each file of a checkpoint is written under another name, flushed
    to the disk and then renamed, the model last. Older checkpoints are removed only when the new
    one is complete. A checkpoint that cannot be read, as another checkpointer leaves it when it is
    killed, is set aside: training resumes from the one before it, or starts again if there is none.
    """

    @property
    @overrides
    def _is_primary(self) -> bool:
        """
        Whether this process is the one that changes the folder. Each node has a folder of its own,
        so this is the first process of each node.
        """
        processes_per_node = os.environ.get("ALLENNLP_PROCS_PER_NODE")
        if processes_per_node is None:
            return self._rank == 0
        return self._rank % int(processes_per_node) == 0

    @overrides
    def save_checkpoint(self, trainer: Trainer) -> None:
        """
        Writes a checkpoint. Raises `OSError`, naming the last good checkpoint, if it cannot be
        written.
        """
        state = trainer.get_checkpoint_state()
        if state is None:  # another process writes it
            return
        epochs = state.trainer_state["epochs_completed"]
        batches = state.trainer_state["batches_in_epoch_completed"]
        try:
            save_tensors(state.trainer_state, self._training_state_path(epochs, batches))
            save_tensors(state.model_state, self._model_state_path(epochs, batches))
        except OSError as error:
            self._remove_training_states_without_model()
            raise self._write_error(error) from error
        # Both files exist already, so AllenNLP's method only deletes old checkpoints. It also asks
        # its trainer for the state, and is given the one that was just written.
        super().save_checkpoint(cast(Trainer, _StateHolder(state)))

    def _write_error(self, error: OSError) -> OSError:
        """Returns the error of writing a checkpoint, with the last good one in its message."""
        latest = self.find_latest_checkpoint()
        if latest is None:
            advice = "no earlier one exists"
        else:
            model_path, _ = latest
            advice = f"the last good checkpoint is {model_path}"
        return OSError(error.errno, f"{error.strerror or error}; {advice}")

    @overrides
    def load_checkpoint(self) -> TrainerCheckpoint | None:
        """
        Reads the newest checkpoint that can be read, and sets newer ones aside. Returns `None` if
        no checkpoint exists, or if the only one cannot be read: the training then starts again.

        Raises `ConfigurationError` if there are several checkpoints and none can be read. Much
        training would be lost by starting again, and the files may still be saved by hand.
        """
        if self._is_primary:
            self._remove_leftovers()
        damaged: dict[Point, BiLmError] = {}
        checkpoint = None
        # AllenNLP's method also finds models without a training state. These are damaged
        # checkpoints, and are to be set aside.
        newest_first = sorted(super()._find_all_checkpoints(), reverse=True)
        for point in newest_first:
            try:
                checkpoint = self._read_checkpoint(point)
                break
            except BiLmError as error:
                damaged[point] = error
        if checkpoint is None and len(damaged) > 1:
            raise self._all_damaged_error(damaged) from damaged[newest_first[0]]
        for point, damage in damaged.items():
            self._set_aside(point, damage, has_earlier=checkpoint is not None)
        return checkpoint

    def _all_damaged_error(self, damaged: Mapping[Point, BiLmError]) -> ConfigurationError:
        """Returns the error for a training whose checkpoints are all damaged, with their files."""
        files = []
        for point, damage in damaged.items():
            files.append(f"{self._model_state_path(*point)} ({damage})")
        return ConfigurationError(f"none of the checkpoints can be read: {', '.join(files)}")

    def _read_checkpoint(self, point: Point) -> TrainerCheckpoint:
        """Reads a checkpoint. Raises `BiLmError` if one of its files is missing or damaged."""
        model_path = self._model_state_path(*point)
        training_path = self._training_state_path(*point)
        return TrainerCheckpoint(
            load_plain(model_path, name=os.path.basename(model_path)),
            load_plain(training_path, name=os.path.basename(training_path)),
        )

    def _set_aside(self, point: Point, damage: BiLmError, has_earlier: bool) -> None:
        """
        Renames the files of a checkpoint that cannot be read, and logs a warning. `has_earlier`
        says whether training resumes from an earlier checkpoint.
        """
        if has_earlier:
            consequence = "resumes from the checkpoint before"
        else:
            consequence = "starts again"
        logger.warning(
            "the checkpoint %s is incomplete or damaged (%s): its files are renamed to "
            "damaged_*, and training %s",
            self._model_state_path(*point),
            damage,
            consequence,
        )
        if self._is_primary:
            for path in self._files_of_checkpoint(*point):
                path.replace(path.with_name(f"damaged_{path.name}"))

    def _remove_leftovers(self) -> None:
        """Removes the temporary files, and half a checkpoint, that a killed process left behind."""
        for name in _WRITTEN_WHOLE:
            remove_leftovers(self._serialization_dir, name)
        self._remove_training_states_without_model()

    def _remove_training_states_without_model(self) -> None:
        """
        Removes the training state of each checkpoint without a model. The training state is written
        before the model, and removed after it, so a kill in between leaves only the training state.
        """
        complete = self._find_all_checkpoints()
        for path in Path(self._serialization_dir).glob("training_state_*.th"):
            point = self._parse_training_state_path(path)
            if point is not None and point not in complete:
                path.unlink()

    def _files_of_checkpoint(
        self, epochs_completed: int, batches_in_epoch_completed: int
    ) -> list[Path]:
        """
        Returns the files of a checkpoint, written by one process or by several. Files of the model
        come first, so that a caller who removes the files in this order never leaves a model
        without its training state.
        """
        point = f"e{epochs_completed}_b{batches_in_epoch_completed}"
        folder = Path(self._serialization_dir)
        files: list[Path] = []
        for kind in ("model_state", "training_state"):
            for suffix in _FILE_SUFFIXES:
                files += folder.glob(f"{kind}_{point}{suffix}")
        return files

    @overrides
    def _find_all_checkpoints(self) -> set[Point]:
        """Returns the checkpoints that have both files, the model's and the training's."""
        points = super()._find_all_checkpoints()
        return {point for point in points if os.path.isfile(self._training_state_path(*point))}

    @overrides
    def _remove_checkpoint(self, epochs_completed: int, batches_in_epoch_completed: int) -> None:
        point = (epochs_completed, batches_in_epoch_completed)
        is_newest = point == max(self._find_all_checkpoints())
        if is_newest and self._keep_most_recent_by_age is not None:
            # The newest checkpoint is kept. It may be too old already, if the process was stopped
            # for a while or writing took long.
            return
        for path in self._files_of_checkpoint(epochs_completed, batches_in_epoch_completed):
            path.unlink()
