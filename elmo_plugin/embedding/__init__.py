"""ELMo's mix of biLM layers: in plain torch, and as AllenNLP's token indexer and token embedder."""

from typing import TYPE_CHECKING, Any

from elmo_plugin.embedding.archive import (
    LayerWeights,
    find_bilms,
    layer_name,
    read_layer_weights,
    stored_state,
)
from elmo_plugin.embedding.representations import ElmoOutput, ElmoRepresentations
from elmo_plugin.embedding.scalar_mix import LayerMix, ScalarMix, weighted_sum

if TYPE_CHECKING:
    from elmo_plugin.embedding.contextual_elmo import ContextualElmo

__all__ = [
    "ContextualElmo",
    "ElmoOutput",
    "ElmoRepresentations",
    "LayerMix",
    "LayerWeights",
    "ScalarMix",
    "find_bilms",
    "layer_name",
    "read_layer_weights",
    "stored_state",
    "weighted_sum",
]


def __getattr__(name: str) -> Any:
    """Imports AllenNLP for models of AllenNLP alone."""
    if name == "ContextualElmo":
        from elmo_plugin.embedding.contextual_elmo import ContextualElmo

        return ContextualElmo
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
