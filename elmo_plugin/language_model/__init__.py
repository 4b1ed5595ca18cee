"""The perplexity of text under a biLM, and the training of a biLM (with AllenNLP)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_plugin.language_model.corpus import find_shards, prepare_corpus
from elmo_plugin.language_model.counts import frequent_words, vocabulary_counts, write_vocabulary
from elmo_plugin.language_model.own_text import describe_text, text_recipe, write_text
from elmo_plugin.language_model.perplexity import STATES, measure_perplexity

if TYPE_CHECKING:
    from elmo_plugin.language_model.checkpointer import AtomicCheckpointer
    from elmo_plugin.language_model.loader import BiLmStreamLoader
    from elmo_plugin.language_model.model import BiLmLanguageModel
    from elmo_plugin.language_model.progress import BiLmProgress
    from elmo_plugin.language_model.reader import BiLmTextReader
    from elmo_plugin.language_model.trainer import BiLmTrainer

_NEEDS_ALLENNLP = {
    "AtomicCheckpointer": "checkpointer",
    "BiLmLanguageModel": "model",
    "BiLmProgress": "progress",
    "BiLmStreamLoader": "loader",
    "BiLmTextReader": "reader",
    "BiLmTrainer": "trainer",
}
__all__ = [
    "STATES",
    "AtomicCheckpointer",
    "BiLmLanguageModel",
    "BiLmProgress",
    "BiLmStreamLoader",
    "BiLmTextReader",
    "BiLmTrainer",
    "describe_text",
    "find_shards",
    "frequent_words",
    "measure_perplexity",
    "prepare_corpus",
    "text_recipe",
    "vocabulary_counts",
    "write_text",
    "write_vocabulary",
]


def __getattr__(name: str) -> Any:
    """Imports parts that need AllenNLP on first access (PEP 562)."""
    if name in _NEEDS_ALLENNLP:
        return getattr(import_module(f"{__name__}.{_NEEDS_ALLENNLP[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
