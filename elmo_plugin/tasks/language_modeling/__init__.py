"""The biLM's own training: text reader, stream loader and model."""

from elmo_plugin.tasks.language_modeling.callbacks import MatmulPrecision
from elmo_plugin.tasks.language_modeling.data_loader import BiLmStreamLoader
from elmo_plugin.tasks.language_modeling.dataset_reader import BiLmTextReader
from elmo_plugin.tasks.language_modeling.model import BiLmLanguageModel

__all__ = ["BiLmLanguageModel", "BiLmStreamLoader", "BiLmTextReader", "MatmulPrecision"]
