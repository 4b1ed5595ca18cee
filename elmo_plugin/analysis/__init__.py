"""What a biLM knows, by layer, and how much each layer counts in trained models."""

from elmo_plugin.analysis.mixes import LayerMixes, layer_mixes
from elmo_plugin.analysis.mixing_figure import draw_mixes

__all__ = ["LayerMixes", "draw_mixes", "layer_mixes"]
