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
    Raises `BiLmError` if a path does not end with the suffix of a format that can be drawn, or if
    matplotlib is not installed.

    Commands call it before they load models, so that users see these mistakes at once.
    """
    formats = (".svg", ".png", ".pdf")
    if not path.endswith(formats):
        raise BiLmError(f"--plot draws {', '.join(formats)}, not {path}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BiLmError("drawing needs matplotlib: install it, or elmo_plugin[figures]") from None


def draw_layer_weights(named_mixes: Sequence[tuple[str, LayerWeights]]) -> "Figure":
    """
    Draws a heat map with a column for each mix, and a row for each layer, the token layer at the
    bottom. Each mix comes with the name of its model; a model may have several mixes.
    """
    from matplotlib.figure import Figure  # here, because matplotlib is optional

    num_layers = 1 + max(max(mix.layers) for _, mix in named_mixes)
    num_mixes = len(named_mixes)
    weights = np.full((num_layers, num_mixes), np.nan)  # NaN leaves the cell of a layer empty
    labels_of_mixes = []
    for column, (model_name, mix) in enumerate(named_mixes):
        weights[list(mix.layers), column] = mix.normalized_weights
        labels_of_mixes.append(f"{model_name}, {mix.placement}")
    labels_of_layers = [layer_name(layer) for layer in range(num_layers)]
    # In inches: room for the labels and the color bar, and for each column and row.
    width = 2.5 + 0.7 * num_mixes
    height = 2 + 0.5 * num_layers
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_xticks(
        range(num_mixes), labels_of_mixes, rotation=45, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(num_layers), labels_of_layers)
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
    figure.colorbar(image, label="normalized weight")
    return figure
