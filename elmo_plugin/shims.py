"""The few shims that AllenNLP 2.10.1 needs on a torch newer than the one it was written for, or to be killed
without harm, and filters for what it prints that no user can act on.

Each shim for torch is guarded: on AllenNLP's own torch it changes nothing. `elmo_plugin.plugin` and
`elmo_plugin.dropin` apply all.
"""

import inspect
import logging
import os
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.training import gradient_descent_trainer
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.optimizers import Optimizer

from elmo_plugin.common.files import replace_when_written

PARAMS_TO_FILE = Params.to_file
VOCABULARY_TO_FILES = Vocabulary.save_to_files


def restore_reduce_on_plateau() -> None:
    """
    Makes the scheduler `reduce_on_plateau` work where torch has dropped the argument `verbose`, by a
    constructor with AllenNLP's own options but for that argument.

    Drop it when AllenNLP's constructor no longer passes `verbose`.
    """
    if "verbose" in inspect.signature(torch.optim.lr_scheduler.ReduceLROnPlateau).parameters:
        return

    def init(self: ReduceOnPlateauLearningRateScheduler, optimizer: Optimizer, **options: Any) -> None:
        scheduler: Any = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        super(ReduceOnPlateauLearningRateScheduler, self).__init__(scheduler)

    signature = inspect.signature(ReduceOnPlateauLearningRateScheduler.__init__)
    parameters = [each for each in signature.parameters.values() if each.name != "verbose"]
    init.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    ReduceOnPlateauLearningRateScheduler.__init__ = init  # type: ignore


def allow_numpy_scalars_in_checkpoints() -> None:
    """
    Lets `torch.load` read the numpy numbers that AllenNLP keeps in a training state (the cosine
    scheduler's learning rates, metrics made with numpy), so that `allennlp train --recover` works where
    `torch.load` refuses by default whatever is neither a tensor nor plain Python.

    Drop it when AllenNLP's checkpoints hold no numpy number.
    """
    if not hasattr(torch.serialization, "add_safe_globals"):
        return
    rebuild_scalar: Any = np.float64(0).__reduce__()[0]
    numbers = np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"
    dtype_classes = {type(np.dtype(code)) for code in numbers}
    torch.serialization.add_safe_globals([rebuild_scalar, np.dtype, *dtype_classes])


def clip_sparse_gradients() -> None:
    """
    Makes AllenNLP's trainer clip the norm of sparse gradients (`"sparse": true` of an embedding) where torch
    cannot any more.

    Drop it when torch can again.
    """
    parameter = torch.nn.Parameter(torch.ones(1, 1))
    parameter.grad = torch.ones(1, 1).to_sparse()
    try:
        torch.nn.utils.clip_grad_norm_([parameter], 1.0)
    except (NotImplementedError, RuntimeError):
        gradient_descent_trainer.clip_grad_norm_ = _clip_sparse_and_dense  # type: ignore[assignment]


def _clip_sparse_and_dense(parameters: list[torch.nn.Parameter], max_norm: float) -> torch.Tensor:
    """Clips the values that there are, of which the sparse gradients consist."""
    gradients: list[Any] = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is not None and gradient.is_sparse:
            gradient = parameter.grad = gradient.coalesce()
            gradient = gradient.values()
        gradients.append(SimpleNamespace(grad=gradient))
    return torch.nn.utils.clip_grad_norm_(gradients, max_norm)


def _params_to_whole_file(
    self: Params, params_file: str, preference_orders: list[list[str]] | None = None
) -> None:
    with replace_when_written(params_file) as temporary:
        PARAMS_TO_FILE(self, str(temporary), preference_orders)


def _vocabulary_to_whole_files(self: Vocabulary, directory: str | os.PathLike) -> None:
    path = Path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        VOCABULARY_TO_FILES(self, str(temporary))
        if not path.exists():
            temporary.rename(path)
            return
        for file in temporary.glob("*.txt"):
            file.replace(path / file.name)


def write_run_folder_whole() -> None:
    """
    Makes `allennlp train` replace a run's configuration and vocabulary only by whole ones. It writes both
    again each time it starts, and `--recover` cannot read what a kill has left half-written.

    Drop it when AllenNLP writes these files under another name first, or not again.
    """
    Params.to_file = _params_to_whole_file  # type: ignore[method-assign]
    Vocabulary.save_to_files = _vocabulary_to_whole_files  # type: ignore[method-assign]


def silence_cuda_amp_deprecation() -> None:
    """
    Hides the deprecation of `torch.cuda.amp` where AllenNLP's trainer is what uses it, and only there.

    Drop it when AllenNLP's trainer uses `torch.amp`.
    """
    warnings.filterwarnings(
        "ignore",
        message=r"`torch\.cuda\.amp\.(autocast|GradScaler)\(args\.\.\.\)` is deprecated",
        category=FutureWarning,
        module=r"allennlp\.training\.gradient_descent_trainer",
    )


def _is_no_note_on_hidden_metrics(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith('Metrics with names beginning with "_"')


def silence_note_on_hidden_metrics() -> None:
    """
    Hides AllenNLP's warning that metrics named with a leading underscore stay out of the progress bar: a
    model names them so to that end, and they are in the metrics files all the same.

    Drop it when no model here has such metrics.
    """
    logging.getLogger("allennlp.training.util").addFilter(_is_no_note_on_hidden_metrics)


def apply() -> None:
    """Applies every shim and filter. To do so twice is harmless."""
    restore_reduce_on_plateau()
    allow_numpy_scalars_in_checkpoints()
    clip_sparse_gradients()
    write_run_folder_whole()
    silence_cuda_amp_deprecation()
    silence_note_on_hidden_metrics()
