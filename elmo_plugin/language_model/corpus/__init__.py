"""Text as numbers in files, its vocabulary, and the dataset reader that names its files."""

from elmo_plugin.language_model.corpus.corpus import prepare_corpus
from elmo_plugin.language_model.corpus.dataset_reader import BiLmTextReader
from elmo_plugin.language_model.corpus.vocabulary import vocabulary_counts

__all__ = [
    "BiLmTextReader",
    "prepare_corpus",
    "vocabulary_counts",
]
