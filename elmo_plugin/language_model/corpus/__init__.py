"""Text as numbers in files; and for AllenNLP its vocabulary and the reader that names its files."""

from typing import TYPE_CHECKING, Any

from elmo_plugin.language_model.corpus.corpus import prepare_corpus
from elmo_plugin.language_model.corpus.shards import find_shards

if TYPE_CHECKING:
    from elmo_plugin.language_model.corpus.dataset_reader import BiLmTextReader
    from elmo_plugin.language_model.corpus.vocabulary import vocabulary_counts

__all__ = [
    "BiLmTextReader",
    "find_shards",
    "prepare_corpus",
    "vocabulary_counts",
]


def __getattr__(name: str) -> Any:
    """Imports what needs AllenNLP on first access (PEP 562)."""
    if name == "BiLmTextReader":
        from elmo_plugin.language_model.corpus.dataset_reader import BiLmTextReader

        return BiLmTextReader
    if name == "vocabulary_counts":
        from elmo_plugin.language_model.corpus.vocabulary import vocabulary_counts

        return vocabulary_counts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
