"""The number of updates of the weights in a training, epoch by epoch."""

from pathlib import Path
from typing import Any

from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_plugin.common.files import write_json

UPDATES = "updates.json"


@TrainerCallback.register("updates")
class UpdatesCallback(TrainerCallback):
    """
    Writes `updates.json`, a list with the number of updates after each epoch.

    Registered as a `TrainerCallback` with name "updates".

    # Parameters

    serialization_dir : `str`
        Not an entry of a configuration: the trainer gives it.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._updates: list[int] = []

    @overrides
    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if is_primary:
            self._updates.append(trainer._total_batches_completed)
            write_json(Path(self.serialization_dir) / UPDATES, self._updates)
