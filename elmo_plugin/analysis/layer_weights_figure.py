"""Figure 2 of Peters et al. (2018): the layers' weights in several models, as a heat map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import LayerWeights, layer_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_plot(path: str) -> None:
    """
    Raises `BiLmError` if the suffix of a path is not a picture's, or if matplotlib is not
    installed.

    Commands call it before they load models, so that nobody waits in vain.
    """
    formats = (".svg", ".png", ".pdf")
    if not path.endswith(formats):
        raise BiLmError(f"--plot draws {', '.join(formats)}, not {path}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BiLmError("drawing needs matplotlib: install it, or elmo_plugin[figures]") from None


def draw_layer_weights(models: Sequence[tuple[str, LayerWeights]]) -> "Figure":
    """
    Draws a column for each pair of a model's name and one of its mixes, and a row for each layer,
    the token layer at the bottom.
    """
    from matplotlib.figure import Figure  # here, because matplotlib is optional

    highest = max(layer for _, mix in models for layer in mix.layers)
    num_layers = highest + 1
    weights = np.full((num_layers, len(models)), np.nan)  # layers that are not mixed stay empty
    for column, (_, mix) in enumerate(models):
        weights[list(mix.layers), column] = mix.normalized_weights
    figure = Figure(figsize=(2.5 + 0.7 * len(models), 2 + 0.5 * num_layers), layout="constrained")
    axes = figure.subplots()
    names = [f"{name}, {mix.placement}" for name, mix in models]
    axes.set_xticks(range(len(models)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(num_layers), [layer_name(layer) for layer in range(num_layers)])
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
    figure.colorbar(image, label="normalized weight")
    return figure
