"""Figure 2 of Peters et al. (2018): the layers' weights in several models, as a heat map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.embedding import LayerWeights, layer_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


def check_plot(path: str) -> None:
    """Raises `BiLmError` if no such file can be drawn."""
    formats = (".svg", ".png", ".pdf")
    if not path.endswith(formats):
        raise BiLmError(f"--plot draws {', '.join(formats)}, not {path}")
    _new_figure(1, 1)


def _new_figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        how = "install elmo_plugin[figures], or matplotlib itself"
        raise BiLmError(f"drawing needs matplotlib: {how}") from None
    return Figure(figsize=(width, height), layout="constrained")


def draw_layer_weights(models: Sequence[tuple[str, LayerWeights]]) -> "Figure":
    """
    Draws a panel for each placement of ELMo, with a column for each model, by its name, and a row for each
    layer, the token layer at the bottom. Raises `BiLmError` if matplotlib is not installed.
    """
    columns: dict[str, list[tuple[str, LayerWeights]]] = {}  # by placement
    for name, mix in models:
        columns.setdefault(mix.placement, []).append((name, mix))
    widths = [len(of_placement) for of_placement in columns.values()]
    num_layers = 1 + max(max(mix.layers) for _, mix in models)
    figure = _new_figure(2.5 + 0.7 * sum(widths), 2 + 0.5 * num_layers)
    panels = figure.subplots(ncols=len(widths), width_ratios=widths, sharey=True, squeeze=False)[0]
    for panel, (placement, of_placement) in zip(panels, columns.items(), strict=True):
        panel.set_title(placement)
        image = _draw_panel(panel, of_placement, num_layers)
    figure.colorbar(image, ax=panels, label="normalized weight")
    return figure


def _draw_panel(panel: "Axes", columns: Sequence[tuple[str, LayerWeights]], num_layers: int) -> "AxesImage":
    weights = np.full((num_layers, len(columns)), np.nan)
    for column, (_, mix) in enumerate(columns):
        for layer, weight in zip(mix.layers, mix.normalized_weights, strict=True):
            weights[layer, column] = weight
            color = "white" if weight > 0.6 else "black"
            panel.text(column, layer, f"{weight:.2f}", ha="center", va="center", color=color)
    panel.set_facecolor("lightgray")  # for layers that are not mixed
    names = [name for name, _ in columns]
    panel.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    panel.set_yticks(range(num_layers), map(layer_name, range(num_layers)))
    return panel.imshow(weights, cmap="Blues", vmin=0, vmax=1, origin="lower", aspect="auto")
