"""Checkpoints and best weights of AllenNLP's trainer: written completely, and read only if undamaged."""

import os
from types import SimpleNamespace

from allennlp.common.checks import ConfigurationError
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.trainer import Trainer, TrainerCheckpoint

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.common.formats.torch_files import check_before_load, save_tensors

SAVE_CHECKPOINT = Checkpointer.save_checkpoint
LOAD_CHECKPOINT = Checkpointer.load_checkpoint
SAVE_MODEL_STATE = GradientDescentTrainer._save_model_state
LOAD_MODEL_STATE = GradientDescentTrainer._load_model_state
GET_BEST_WEIGHTS_PATH = GradientDescentTrainer.get_best_weights_path


def save_checkpoint(self: Checkpointer, trainer: Trainer) -> None:
    """Leaves no half-written file after a kill or on a full disk."""
    if self._serialization_dir is None:
        return
    state = trainer.get_checkpoint_state()
    if state is not None:
        point = state.trainer_state["epochs_completed"], state.trainer_state["batches_in_epoch_completed"]
        for path, content in (
            (self._training_state_path(*point), state.trainer_state),
            (self._model_state_path(*point), state.model_state),
        ):
            if not os.path.isfile(path):
                save_tensors(content, path)
    # It finds both files, writes neither, and removes old checkpoints.
    SAVE_CHECKPOINT(self, SimpleNamespace(get_checkpoint_state=lambda: state))  # type: ignore[arg-type]


def load_checkpoint(self: Checkpointer) -> TrainerCheckpoint | None:
    """Raises `ConfigurationError` if the latest checkpoint is damaged."""
    for path in self.find_latest_checkpoint() or ():
        with as_configuration_error("--recover"):
            check_before_load(path, path)
    try:
        return LOAD_CHECKPOINT(self)
    except (RuntimeError, ValueError, KeyError, EOFError) as error:
        folder = self._serialization_dir
        raise ConfigurationError(f"the latest checkpoint in {folder} cannot be read ({error})") from error


def save_model_state(self: GradientDescentTrainer, path: str) -> None:
    """Leaves no half-written file, unless the model is sharded over several processes."""
    if self._ddp_wrapped_model is not None and self._ddp_wrapped_model.is_sharded:
        SAVE_MODEL_STATE(self, path)
        return
    save_tensors((self._ddp_wrapped_model or self.model).state_dict(), path)


def load_model_state(self: GradientDescentTrainer, path: str) -> None:
    """Raises `ConfigurationError` if the weights are damaged."""
    with as_configuration_error():
        check_before_load(path, path)
    LOAD_MODEL_STATE(self, path)


def get_best_weights_path(self: GradientDescentTrainer) -> str | None:
    """Returns None if Ctrl-C came after the trainer had chosen the file's name, but before it was there."""
    path = GET_BEST_WEIGHTS_PATH(self)
    return path if path is not None and os.path.exists(path) else None


Checkpointer.save_checkpoint = save_checkpoint  # type: ignore[method-assign]
Checkpointer.load_checkpoint = load_checkpoint  # type: ignore[method-assign]
GradientDescentTrainer._save_model_state = save_model_state  # type: ignore[method-assign]
GradientDescentTrainer._load_model_state = load_model_state  # type: ignore[method-assign]
GradientDescentTrainer.get_best_weights_path = get_best_weights_path  # type: ignore[method-assign]
