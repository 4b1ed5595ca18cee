"""Stores a frozen biLM's vectors of a sentence for later batches, epochs and trainings."""

from elmo_plugin.embedding.cache.activation_cache import ActivationCache, MemoryCache, SqliteCache
