"""Training in bfloat16 for any model, on a CPU or a GPU."""

import logging
from typing import TYPE_CHECKING, Any

import torch
from allennlp.models import Model
from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_plugin.bilm import has_bfloat16

if TYPE_CHECKING:
    from allennlp.training.gradient_descent_trainer import GradientDescentTrainer

logger = logging.getLogger(__name__)


def bfloat16_autocast(device: str) -> torch.autocast:
    """Returns autocast in bfloat16. On a CPU that cannot multiply bfloat16 it is off, with a warning."""
    is_possible = device != "cpu" or has_bfloat16()
    if not is_possible:
        logger.warning("This CPU has no instructions for bfloat16: training computes in float32")
    return torch.autocast(device, torch.bfloat16, enabled=is_possible)


@TrainerCallback.register("bfloat16")
class BFloat16Training(TrainerCallback):
    """
    Computes the forward pass of a model under `torch.autocast` in bfloat16 while it trains, so that matrix
    products, and those of their gradients, round factors and results. Weights, their updates and, in the task
    models of this package, gates, cells and losses stay float32. Validation computes in float32.

    AllenNLP's own `use_amp` is for GPUs and float16. A CPU without instructions for bfloat16 trains in
    float32, with a warning.

    Registered as a `TrainerCallback` with name "bfloat16".

    # Parameters

    serialization_dir : `str`
        Given by the trainer, not by a configuration.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._hooks: list[Any] = []

    @overrides
    def on_start(self, trainer: "GradientDescentTrainer", is_primary: bool = True, **kwargs: Any) -> None:
        model = trainer.model
        autocast = bfloat16_autocast(next(model.parameters()).device.type)

        def enter(model: Model, _inputs: Any) -> None:
            if model.training:
                autocast.__enter__()

        def leave(model: Model, _inputs: Any, _output: Any) -> None:
            if model.training:
                autocast.__exit__(None, None, None)

        self._hooks = [
            model.register_forward_pre_hook(enter),
            model.register_forward_hook(leave, always_call=True),
        ]

    @overrides
    def on_end(self, *args: Any, **kwargs: Any) -> None:
        for hook in self._hooks:
            hook.remove()
