"""ELMo's mix of biLM layers: in plain torch, and as AllenNLP's token indexer and token embedder."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_plugin.embedding.archive import find_bilms, stored_state
from elmo_plugin.embedding.cache import MemoryCache, SqliteCache
from elmo_plugin.embedding.layer_weights import LayerWeights, layer_name, read_layer_weights
from elmo_plugin.embedding.representations import ElmoRepresentations, LayerMix, weighted_sum

if TYPE_CHECKING:
    from elmo_plugin.embedding.contextual_elmo import ContextualElmo, RegisteredCache


def __getattr__(name: str) -> Any:
    """
    Imports `ContextualElmo` and `RegisteredCache` on first access, because they need AllenNLP (PEP
    562).
    """
    if name in ("ContextualElmo", "RegisteredCache"):
        return getattr(import_module(f"{__name__}.contextual_elmo"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
