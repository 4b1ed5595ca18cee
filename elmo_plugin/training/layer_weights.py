"""A trainer callback that logs ELMo's mixing weights."""

from typing import Any

from allennlp.training.callbacks import TrainerCallback
from allennlp.training.callbacks.log_writer import LogWriterCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_plugin.common.logs import get_logger
from elmo_plugin.embedding import LayerWeights, layer_name, read_layer_weights
from elmo_plugin.training.schedules import averaged_weights

logger = get_logger(__name__)


@TrainerCallback.register("elmo_weights")
class ElmoWeightsCallback(TrainerCallback):
    """
    Logs, after each epoch, gamma and the normalized weight of each layer of the biLM at each place
    where ELMo enters the model: as a line, and as scalars of log writers such as `tensorboard`.
    `metrics.json` gets the values of the last epoch as `elmo_input_gamma`, `elmo_input_token`,
    `elmo_input_LSTM_1` and so on. With a moving average, these are the averaged weights, as in
    validation and in the archive.

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
            return  # the primary process logs for all
        for mix in _read_layer_weights(trainer):
            weights = _weights_by_name(mix)
            listed = ", ".join(f"{name} {weight:.3f}" for name, weight in weights.items())
            logger.info(f"epoch {epoch + 1}, ELMo at {mix.placement}: {listed}")
            scalars = {}
            for name, weight in weights.items():
                scalars[_metric_name(mix.placement, name)] = weight
            metrics.update(scalars)
            # Log writers leave out metrics other than "training_..." and "validation_...", so they
            # are called for these scalars.
            for callback in trainer._callbacks:
                if isinstance(callback, LogWriterCallback):
                    callback.log_scalars(scalars, log_prefix="train", epoch=epoch)


def _read_layer_weights(trainer: GradientDescentTrainer) -> list[LayerWeights]:
    """Reads the mixes from the weights that an archive would have now, maybe averaged ones."""
    with averaged_weights(trainer._moving_average):
        return read_layer_weights(trainer.model.state_dict())


def _weights_by_name(mix: LayerWeights) -> dict[str, float]:
    """Returns gamma, then the normalized weight of each layer, by names such as "LSTM 1"."""
    weights = {"gamma": mix.gamma}
    for layer, weight in zip(mix.layers, mix.normalized_weights, strict=True):
        weights[layer_name(layer)] = weight
    return weights


def _metric_name(placement: str, name: str) -> str:
    """Returns the name of a weight in the metrics, such as "elmo_input_LSTM_1"."""
    return f"elmo_{placement}_{name}".replace(" ", "_")
