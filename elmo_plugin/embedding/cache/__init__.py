"""Stores a frozen biLM's vectors of a sentence for later batches, epochs and trainings."""

from typing import TYPE_CHECKING, Any

from elmo_plugin.embedding.cache.activation_cache import ActivationCache, MemoryCache, SqliteCache

if TYPE_CHECKING:
    from elmo_plugin.embedding.cache.registered_cache import RegisteredCache


def __getattr__(name: str) -> Any:
    """Imports AllenNLP for configurations alone."""
    if name == "RegisteredCache":
        from elmo_plugin.embedding.cache.registered_cache import RegisteredCache

        return RegisteredCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
