"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018).

`import elmo_plugin.plugin` registers everything with AllenNLP. Who imports this package alone gets that when
AllenNLP is asked for a name that it does not know; see `elmo_plugin.registration`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_plugin.registration import register_when_needed

if TYPE_CHECKING:
    from elmo_plugin.allennlp_api import (
        Elmo,
        ElmoEmbedder,
        ElmoTokenEmbedder,
        ScalarMix,
        _ElmoBiLm,
        _ElmoCharacterEncoder,
        batch_to_ids,
    )

__version__ = "0.1.0"
__all__ = [
    "Elmo",
    "ElmoEmbedder",
    "ElmoTokenEmbedder",
    "ScalarMix",
    "_ElmoBiLm",
    "_ElmoCharacterEncoder",
    "batch_to_ids",
]


def __getattr__(name: str) -> Any:
    """What is heavy to import is imported when it is asked for (PEP 562)."""
    if name in __all__:
        return getattr(import_module("elmo_plugin.allennlp_api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


register_when_needed()
