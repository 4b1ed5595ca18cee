"""What a language model reads at a time: streams for training, blocks for evaluation."""

from elmo_plugin.language_model.batches.blocks import EvaluationWindow, evaluation_windows
from elmo_plugin.language_model.batches.windows import IndexedCorpus, StreamLayout

__all__ = ["EvaluationWindow", "IndexedCorpus", "StreamLayout", "evaluation_windows"]
