"""What a biLM knows, by layer, and how much each layer counts in trained models."""

from elmo_plugin.analysis.mixes import LayerMixes, layer_mixes
from elmo_plugin.analysis.mixing_figure import draw_mixes
from elmo_plugin.analysis.subjects import CachedVectors, EmbedsWords, Subject, controls

__all__ = ["CachedVectors", "EmbedsWords", "LayerMixes", "Subject", "controls", "draw_mixes", "layer_mixes"]
