"""ELMo's mix of biLM layers: in plain torch, and as AllenNLP's token indexer and token embedder."""

from importlib import import_module
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
    from elmo_plugin.embedding.cache.registered_cache import RegisteredCache
    from elmo_plugin.embedding.contextual_elmo import ContextualElmo

# What users import; the other rooms import the rest.
__all__ = ["ContextualElmo", "ElmoOutput", "ElmoRepresentations", "ScalarMix"]
_OF_ALLENNLP = {"ContextualElmo": "contextual_elmo", "RegisteredCache": "cache.registered_cache"}


def __getattr__(name: str) -> Any:
    """Imports AllenNLP for models of AllenNLP alone."""
    if name in _OF_ALLENNLP:
        return getattr(import_module(f"{__name__}.{_OF_ALLENNLP[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
