"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018).

`import elmo_plugin.plugin`, or the line `elmo_plugin.plugin` in `.allennlp_plugins`, registers everything
with AllenNLP.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from elmo_plugin.bilm import BiLm
    from elmo_plugin.embedding import ElmoRepresentations

__version__ = "1.0.0"
__all__ = [
    "BiLm",
    "Elmo",
    "ElmoEmbedder",
    "ElmoRepresentations",
    "ElmoTokenEmbedder",
    "ScalarMix",
    "_ElmoBiLm",
    "_ElmoCharacterEncoder",
    "batch_to_ids",
]


def __getattr__(name: str) -> Any:
    """Imports what is heavy on first access (PEP 562)."""
    if name == "BiLm":
        module = import_module("elmo_plugin.bilm")
    elif name == "ElmoRepresentations":
        module = import_module("elmo_plugin.embedding")
    elif name in __all__:
        module = import_module("elmo_plugin.allennlp_api")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
