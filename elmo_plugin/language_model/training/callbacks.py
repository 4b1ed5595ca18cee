"""Trainer callbacks for language models."""

from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_plugin.common.process import keep_freed_memory

MATMUL_PRECISIONS = ("highest", "high", "medium")  # of `torch.set_float32_matmul_precision`


@TrainerCallback.register("matmul_precision")
class MatmulPrecision(TrainerCallback):
    """
    Lets torch round the factors of float32 matrix products while it trains, as
    `torch.set_float32_matmul_precision` says; weights, sums and all else stay float32. On a GPU with tensor
    cores products run several times as fast. On a CPU they go to oneDNN, which may round and may be faster
    than torch's default where it does not. The earlier setting is back when training ends.

    # Parameters

    serialization_dir : `str`
        Given by the trainer, not by a configuration.
    precision : `str`
        `highest` (float32), `high` (TF32 or the sum of two bfloat16) or `medium` (bfloat16).
    """

    def __init__(self, serialization_dir: str, precision: str = "medium") -> None:
        super().__init__(serialization_dir)
        if precision not in MATMUL_PRECISIONS:
            raise ConfigurationError(
                f"matmul_precision must be one of {MATMUL_PRECISIONS}, not {precision!r}"
            )
        self._precision = precision

    @overrides
    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision(self._precision)

    @overrides
    def on_end(self, *args: Any, **kwargs: Any) -> None:
        torch.set_float32_matmul_precision(self._before)


@TrainerCallback.register("keep_freed_memory")
class KeepFreedMemory(TrainerCallback):
    """
    Lets this process keep the memory that it frees for its next arrays, instead of returning it to Linux,
    which would fill each page with zeros again. This makes training on a CPU faster by a tenth or more. It
    needs glibc; with other C libraries it does nothing.

    # Parameters

    serialization_dir : `str`
        Given by the trainer, not by a configuration.
    """

    @overrides
    def on_start(self, *args: Any, **kwargs: Any) -> None:
        keep_freed_memory()
