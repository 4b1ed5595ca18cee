"""The biLM's own training: text reader, stream loader and model."""

from elmo_plugin.tasks.language_modeling.callbacks import MatmulPrecision
from elmo_plugin.tasks.language_modeling.checkpointer import AtomicCheckpointer
from elmo_plugin.tasks.language_modeling.data_loader import BiLmStreamLoader
from elmo_plugin.tasks.language_modeling.dataset_reader import BiLmTextReader
from elmo_plugin.tasks.language_modeling.model import BiLmLanguageModel
from elmo_plugin.tasks.language_modeling.progress import BiLmProgress
from elmo_plugin.tasks.language_modeling.trainer import BiLmTrainer

__all__ = [
    "AtomicCheckpointer",
    "BiLmLanguageModel",
    "BiLmProgress",
    "BiLmStreamLoader",
    "BiLmTextReader",
    "BiLmTrainer",
    "MatmulPrecision",
]
