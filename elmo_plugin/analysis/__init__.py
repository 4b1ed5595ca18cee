"""What one sees in trained models: how much each layer of the biLM counts."""

from elmo_plugin.analysis.mixing_figure import FORMATS, draw_mixes, save

__all__ = ["FORMATS", "draw_mixes", "save"]
