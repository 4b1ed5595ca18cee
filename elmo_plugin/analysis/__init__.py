"""What a biLM knows, by layer, and how much each layer counts in trained models."""

from elmo_plugin.analysis.combinations import LayerCombinations, layer_combinations
from elmo_plugin.analysis.mixing_figure import draw_mixes
from elmo_plugin.analysis.representations import Representation, controls

__all__ = ["LayerCombinations", "Representation", "controls", "draw_mixes", "layer_combinations"]
