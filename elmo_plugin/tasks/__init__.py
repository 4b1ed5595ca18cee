"""The task models on a few shared bases. No task imports another."""

from elmo_plugin.tasks.dataset_reader import (
    Line,
    TaskDatasetReader,
    read_text_lines,
    sentence_fields,
)
from elmo_plugin.tasks.predictor import SentencePredictor
from elmo_plugin.tasks.score_table import figures_table
from elmo_plugin.tasks.task_model import Classifier, Ensemble, TaskModel
from elmo_plugin.tasks.tokenizers import PennTreebankTokenizer
