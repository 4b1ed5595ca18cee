"""What a frozen biLM computed for a sentence, stored for later batches, epochs and trainings."""

from elmo_plugin.embedding.cache.activation_cache import ActivationCache, LmdbCache, MemoryCache

__all__ = ["ActivationCache", "LmdbCache", "MemoryCache"]
