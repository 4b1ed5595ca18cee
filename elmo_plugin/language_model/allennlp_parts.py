"""The training of a biLM with AllenNLP."""

from elmo_plugin.language_model.batches.data_loader import BiLmStreamLoader
from elmo_plugin.language_model.corpus.dataset_reader import BiLmTextReader
from elmo_plugin.language_model.corpus.vocabulary import vocabulary_counts
from elmo_plugin.language_model.model import BiLmLanguageModel
from elmo_plugin.language_model.training.callbacks import MatmulPrecision
from elmo_plugin.language_model.training.checkpointer import AtomicCheckpointer
from elmo_plugin.language_model.training.progress import BiLmProgress
from elmo_plugin.language_model.training.trainer import BiLmTrainer

__all__ = [
    "AtomicCheckpointer",
    "BiLmLanguageModel",
    "BiLmProgress",
    "BiLmStreamLoader",
    "BiLmTextReader",
    "BiLmTrainer",
    "MatmulPrecision",
    "vocabulary_counts",
]
