"""Logs the mixing weights of a training, epoch by epoch."""

import logging
from typing import Any

from allennlp.training.callbacks import TrainerCallback
from allennlp.training.callbacks.log_writer import LogWriterCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_plugin.embedding import LayerWeights, layer_name, read_layer_weights

logger = logging.getLogger(__name__)


@TrainerCallback.register("elmo_weights")
class ElmoWeightsCallback(TrainerCallback):
    """
    Logs, after each epoch, gamma and the normalized weight of each layer of the biLM at each place where ELMo
    enters the model: as a line, and as scalars of log writers such as `tensorboard`. `metrics.json` gets the
    values of the last epoch as `elmo_input_gamma`, `elmo_input_token`, `elmo_input_LSTM_1` and so on. With a
    moving average, these are the averaged weights, as in validation and in the archive.

    Registered as a `TrainerCallback` with name "elmo_weights".
    """

    @overrides
    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if not is_primary:
            return
        for mix in _read_layer_weights(trainer):
            weights = zip(map(layer_name, mix.layers), mix.normalized_weights, strict=True)
            scalars = {"gamma": mix.gamma, **dict(weights)}
            line = ", ".join(f"{name} {value:.3f}" for name, value in scalars.items())
            logger.info(f"epoch {epoch + 1}, ELMo at {mix.placement}: {line}")
            named = {f"elmo_{mix.placement}_{name.replace(' ', '_')}": scalars[name] for name in scalars}
            metrics.update(named)
            for callback in trainer._callbacks:
                if isinstance(callback, LogWriterCallback):
                    callback.log_scalars(named, log_prefix="train", epoch=epoch)


def _read_layer_weights(trainer: GradientDescentTrainer) -> list[LayerWeights]:
    """Reads the mixes of the weights that an archive would have now."""
    average = trainer._moving_average
    if average is None:
        return read_layer_weights(trainer.model.state_dict())
    average.assign_average_value()
    try:
        return read_layer_weights(trainer.model.state_dict())
    finally:
        average.restore()
