"""Text as numbers in files, and AllenNLP's vocabulary and reader for it."""

from elmo_plugin.language_model.corpus.corpus import prepare_corpus
from elmo_plugin.language_model.corpus.shards import find_shards

__all__ = ["find_shards", "prepare_corpus"]
