"""The caches that a configuration can name."""

from typing import Any

from allennlp.common import Params, Registrable
from overrides import overrides

from elmo_plugin.common.errors import as_configuration_error
from elmo_plugin.embedding.cache.activation_cache import ActivationCache, MemoryCache, SqliteCache


class RegisteredCache(Registrable, ActivationCache):
    """An `ActivationCache` of a configuration. See `docs/faster.md`."""

    @classmethod
    @overrides
    def from_params(cls, params: Params, **kwargs: Any) -> "RegisteredCache":  # type: ignore[override]
        with as_configuration_error("cache"):
            return super().from_params(params, **kwargs)


@RegisteredCache.register("memory")
class RegisteredMemoryCache(MemoryCache, RegisteredCache):
    """
    A `MemoryCache`, with its parameters.

    Registered as a `RegisteredCache` with name "memory".
    """


@RegisteredCache.register("sqlite")
class RegisteredSqliteCache(SqliteCache, RegisteredCache):
    """
    An `SqliteCache`, with its parameters.

    Registered as a `RegisteredCache` with name "sqlite".
    """
