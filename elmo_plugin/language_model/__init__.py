"""The perplexity of text under a biLM, and the training of a biLM, which needs AllenNLP."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_plugin.language_model.perplexity import STATES, measure_perplexity

if TYPE_CHECKING:
    from elmo_plugin.language_model.allennlp_parts import (
        AtomicCheckpointer,
        BiLmLanguageModel,
        BiLmProgress,
        BiLmStreamLoader,
        BiLmTextReader,
        BiLmTrainer,
        MatmulPrecision,
        vocabulary_counts,
    )

__all__ = [
    "STATES",
    "AtomicCheckpointer",
    "BiLmLanguageModel",
    "BiLmProgress",
    "BiLmStreamLoader",
    "BiLmTextReader",
    "BiLmTrainer",
    "MatmulPrecision",
    "measure_perplexity",
    "vocabulary_counts",
]


def __getattr__(name: str) -> Any:
    """Imports what needs AllenNLP on first access (PEP 562)."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.allennlp_parts"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
