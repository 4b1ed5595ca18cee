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
        Not an entry of a configuration: the trainer gives it.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._hooks: list[Any] = []
        self._entered: torch.autocast | None = None

    @overrides
    def on_start(
        self, trainer: "GradientDescentTrainer", is_primary: bool = True, **kwargs: Any
    ) -> None:
        device = next(trainer.model.parameters()).device.type
        if device == "cpu" and not has_bfloat16():
            logger.warning("This CPU has no instructions for bfloat16: training computes in float32")
            return

        def enter(model: Model, _inputs: Any) -> None:
            if model.training:
                self._entered = torch.autocast(device, torch.bfloat16)
                self._entered.__enter__()

        def leave(_model: Model, _inputs: Any, _output: Any) -> None:
            if self._entered is not None:
                self._entered.__exit__(None, None, None)
                self._entered = None

        model = trainer.model
        self._hooks = [
            model.register_forward_pre_hook(enter),
            model.register_forward_hook(leave, always_call=True),
        ]

    @overrides
    def on_end(self, *args: Any, **kwargs: Any) -> None:
        for hook in self._hooks:
            hook.remove()
