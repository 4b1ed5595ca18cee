"""Trainings with several seeds, each of which is done once, and what they score."""

import copy
import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.models.archival import CONFIG_NAME

SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")


def with_seed(config: dict[str, Any], seed: int) -> dict[str, Any]:
    """The configuration with this seed for every library."""
    return config | dict.fromkeys(SEEDS, seed)


def train(config: dict[str, Any], folder: Path, file_friendly_logging: bool = False) -> dict[str, Any]:
    """
    Trains, unless that is done. A training is in `FOLDER.unfinished` until it has ended, so that what a kill
    leaves is not taken for a finished one; and it ends as if there had been no kill. With the trainer `bilm`
    it goes on from its last checkpoint. With others it starts anew: what AllenNLP recovers has other random
    numbers, and may lack the best weights.

    # Parameters

    config : `dict[str, Any]`
        The whole configuration.
    folder : `Path`
        Where the finished training is.
    file_friendly_logging : `bool`, optional (default = `False`)
        See `allennlp train`.

    # Returns

    `dict[str, Any]`
        Its metrics.

    Raises `ConfigurationError` where `folder` has another training.
    """
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        recover = config.get("trainer", {}).get("type") == "bilm" and (unfinished / CONFIG_NAME).is_file()
        gc.collect()  # the model of the training before
        train_model(
            Params(copy.deepcopy(config)),
            unfinished,
            recover=recover,
            force=not recover,
            file_friendly_logging=file_friendly_logging,
        )
        unfinished.rename(folder)
    return read_metrics(config, folder)


def read_metrics(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Those of a finished training with this configuration; `ConfigurationError` where it is not there."""
    try:
        found = json.loads((folder / CONFIG_NAME).read_text())
        metrics = json.loads((folder / "metrics.json").read_text())
    except (OSError, ValueError):
        raise ConfigurationError(f"{folder} is there, but has no finished training") from None
    if found != config:
        old, new = (Params(each).as_flat_dict() for each in (found, config))
        other = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        raise ConfigurationError(
            f"{folder} has a training with another configuration: other {', '.join(other)}"
        )
    return metrics


class Metric(NamedTuple):
    """
    A metric on the validation data, at the epoch that the trainer found best.

    # Parameters

    name : `str`
        As in AllenNLP's metrics, without `validation_`.
    higher_is_better : `bool`
        Then it is taken for a share of one, and scores are in per cent.
    """

    name: str
    higher_is_better: bool

    @classmethod
    def parse(cls, text: Any) -> "Metric":
        """From the form of a trainer's `validation_metric`, such as `"+accuracy"` or `"-loss"`."""
        if not isinstance(text, str) or text[:1] not in ("+", "-") or len(text) < 2:
            raise ConfigurationError(f"a metric is its name behind + or -, such as +accuracy, not {text!r}")
        return cls(text[1:], text[0] == "+")

    def score(self, metrics: Mapping[str, Any]) -> float:
        """What the `metrics.json` of a training has of it; `ConfigurationError` where it has not."""
        prefix = "best_validation_"
        value = metrics.get(prefix + self.name)
        if value is None:
            known = (name.removeprefix(prefix) for name in metrics if name.startswith(prefix))
            raise ConfigurationError(f"there is no metric {self.name}, but {', '.join(known)}")
        return round(100 * value, 2) if self.higher_is_better else round(value, 4)

    def __str__(self) -> str:
        return f"{self.name} (%)" if self.higher_is_better else f"{self.name} (lower is better)"
