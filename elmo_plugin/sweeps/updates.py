"""The numbers of updates of the weights in a training, epoch by epoch."""

import json
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_plugin.common.files import write_json
from elmo_plugin.sweeps.scores import Metric

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


def updates_to_reach(folder: Path, score: float, metric: Metric) -> int | None:
    """
    Returns after how many updates of a training the score on the validation data was first as good, or `None`
    if it never was. Raises `ConfigurationError` if the files of `UpdatesCallback` are missing.
    """
    sign = 1 if metric.higher_is_better else -1
    name = f"validation_{metric.name}"
    try:
        for epoch, updates in enumerate(json.loads((folder / UPDATES).read_text(encoding="utf-8"))):
            metrics = json.loads((folder / f"metrics_epoch_{epoch}.json").read_text(encoding="utf-8"))
            if sign * (metric.score({f"best_{name}": metrics[name]}) - score) >= 0:
                return int(updates)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{folder}: its updates and scores cannot be read ({error})") from None
    return None
