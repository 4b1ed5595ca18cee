"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018).

Importing this package registers nothing with AllenNLP: `import elmo_plugin.plugin` does. Only where a file
`.allennlp_plugins` has the line `elmo_plugin`, the plugin is what it means.
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


def _is_line_of_plugins_file() -> bool:
    """Tells whether AllenNLP imports this very package because a plugins file names it."""
    frame = sys._getframe()
    while frame.f_back is not None:
        caller = frame.f_back
        is_import = frame.f_code is import_module.__code__ and frame.f_locals["name"] == __name__
        if is_import and caller.f_globals.get("__name__") == "allennlp.common.plugins":
            return True
        frame = caller
    return False


if _is_line_of_plugins_file():
    import_module("elmo_plugin.plugin")
