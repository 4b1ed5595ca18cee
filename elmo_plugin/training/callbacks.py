"""Trainer callbacks for the precision of a training: bfloat16, and rounded matrix products."""

from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides
from torch.utils.hooks import RemovableHandle

from elmo_plugin.bilm import precision_on
from elmo_plugin.common.errors import check_choice

# The arguments of `torch.set_float32_matmul_precision`.
MATMUL_PRECISIONS = ("highest", "high", "medium")


def bfloat16_autocast(device: str) -> torch.autocast:
    """
    Returns autocast in bfloat16. On a CPU that cannot multiply bfloat16 it is off, with a warning.
    """
    precision = precision_on(torch.device(device), "bfloat16")
    is_supported = precision.name == "bfloat16"  # otherwise it fell back to float32
    return torch.autocast(device, torch.bfloat16, enabled=is_supported)


@TrainerCallback.register("bfloat16")
class BFloat16Training(TrainerCallback):
    """
    Computes the forward pass of a model in training under `torch.autocast` in bfloat16, so that
    matrix products and their gradients round factors and results. Weights, their updates and, in
    the task models of this package, gates, cells and losses stay float32. Validation computes in
    float32.

    AllenNLP's own `use_amp` is for GPUs and float16. A CPU without instructions for bfloat16 trains
    in float32, with a warning.

    Registered as a `TrainerCallback` with name "bfloat16".
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._hooks: list[RemovableHandle] = []

    @overrides
    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        model = trainer.model
        first_parameter = next(model.parameters())
        autocast = bfloat16_autocast(first_parameter.device.type)

        # AllenNLP calls the model, so this cannot be a `with` statement around the call. Two hooks
        # do the same: one begins autocast before the forward pass, and one ends it afterwards.
        def begin_autocast(model: Model, _inputs: Any) -> None:
            if model.training:
                autocast.__enter__()

        def end_autocast(model: Model, _inputs: Any, _output: Any) -> None:
            if model.training:
                autocast.__exit__(None, None, None)

        self._hooks = [
            model.register_forward_pre_hook(begin_autocast),
            # Also called if the forward pass raises an error.
            model.register_forward_hook(end_autocast, always_call=True),
        ]

    @overrides
    def on_end(self, *args: Any, **kwargs: Any) -> None:
        for hook in self._hooks:
            hook.remove()


@TrainerCallback.register("matmul_precision")
class MatmulPrecision(TrainerCallback):
    """
    Lets torch round the factors of float32 matrix products in training, see
    `torch.set_float32_matmul_precision`; weights, sums and all else stay float32. On a GPU with
    tensor cores products run several times as fast. On a CPU they go to oneDNN: it may round, and
    may be faster even if it does not. The earlier setting is restored when training ends.

    # Parameters

    precision : `str`
        `highest` (float32), `high` (TF32 or the sum of two bfloat16) or `medium` (bfloat16).
    """

    def __init__(self, serialization_dir: str, precision: str = "medium") -> None:
        super().__init__(serialization_dir)
        check_choice("matmul_precision", precision, MATMUL_PRECISIONS, ConfigurationError)
        self._precision = precision

    @overrides
    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._earlier_precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision(self._precision)

    @overrides
    def on_end(self, *args: Any, **kwargs: Any) -> None:
        torch.set_float32_matmul_precision(self._earlier_precision)
