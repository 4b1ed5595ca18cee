"""What trained models show: how much each layer of the biLM counts."""

from elmo_plugin.analysis.mixing_figure import draw_mixes

__all__ = ["draw_mixes"]
