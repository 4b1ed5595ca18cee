"""What a biLM knows, by layer, and how much each layer counts in trained models."""

from elmo_plugin.analysis.mixing_figure import draw_mixes
from elmo_plugin.analysis.representations import (
    LayerCombinations,
    Representation,
    controls,
    layer_combinations,
)

__all__ = ["LayerCombinations", "Representation", "controls", "draw_mixes", "layer_combinations"]
