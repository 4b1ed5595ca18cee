"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018).

`import elmo_plugin.plugin`, or the line `elmo_plugin.plugin` in `.allennlp_plugins`, registers
everything with AllenNLP.
"""

from importlib import import_module

from elmo_plugin import other_names, stand_ins

# Type checkers take this name as true. Importing `typing` for it would double the time that Python
# takes to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from elmo_plugin.archives import load_archive
    from elmo_plugin.bilm import BiLm, normalize_text
    from elmo_plugin.embedding import ElmoRepresentations
    from elmo_plugin.integrations.sklearn_transformer import ElmoVectorizer
    from elmo_plugin.migration.allennlp_api import (
        Elmo,
        ElmoEmbedder,
        ElmoTokenEmbedder,
        ScalarMix,
        batch_to_ids,
    )
    from elmo_plugin.predictions.predictor import load_predictor

__version__ = "1.0.0"
__all__ = [
    "BiLm",
    "Elmo",
    "ElmoEmbedder",
    "ElmoRepresentations",
    "ElmoTokenEmbedder",
    "ElmoVectorizer",
    "ScalarMix",
    "batch_to_ids",
    "load_archive",
    "load_predictor",
    "normalize_text",
]
_MODULE_OF_NAME = {
    "BiLm": "bilm",
    "Elmo": "migration.allennlp_api",
    "ElmoEmbedder": "migration.allennlp_api",
    "ElmoRepresentations": "embedding",
    "ElmoTokenEmbedder": "migration.allennlp_api",
    "ElmoVectorizer": "integrations.sklearn_transformer",
    "ScalarMix": "migration.allennlp_api",
    "batch_to_ids": "migration.allennlp_api",
    "load_archive": "archives",
    "load_predictor": "predictions.predictor",
    "normalize_text": "bilm",
}

# Here, because AllenNLP may be imported by any module of this package.
stand_ins.install()
other_names.install()


def __getattr__(name: str) -> "Any":
    """
    Imports a public name when it is first used, from the module that defines it. Python calls this
    function for names that the package does not have yet (PEP 562). If the package imported all of
    them itself, it would take seconds.
    """
    if name == "sklearn":
        # This is a module. It should also be found by people who write only `import elmo_plugin`.
        return import_module("elmo_plugin.sklearn")
    if name not in __all__:
        sentence = other_names.what_to_write(name)
        if not sentence:
            sentence = f"module {__name__!r} has no attribute {name!r}: it has {', '.join(__all__)}"
        raise AttributeError(sentence)
    module = import_module(f"elmo_plugin.{_MODULE_OF_NAME[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
