"""The reference scorer of CoNLL-2012 (v8.01): its counts, its figures and its table."""

from elmo_plugin.tasks.coref.scoring.scorer import score_coref
from elmo_plugin.tasks.coref.scoring.scores import CorefScores

__all__ = ["CorefScores", "score_coref"]
