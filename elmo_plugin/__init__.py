"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018).

`import elmo_plugin.plugin` registers everything with AllenNLP, as does the line `elmo_plugin` in a plugins
file.
"""

import sys
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

__version__ = "1.0.0"
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
    """Imports what is heavy on first access (PEP 562)."""
    if name in __all__:
        return getattr(import_module("elmo_plugin.allennlp_api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


# Importing any part of the package runs this file, but only the line `elmo_plugin` in a plugins file means
# all.
_plugins = sys.modules.get("allennlp.common.plugins")
if _plugins is not None and __name__ in list(_plugins.discover_plugins()):
    import_module("elmo_plugin.plugin")
