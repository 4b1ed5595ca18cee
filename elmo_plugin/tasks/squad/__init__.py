"""Question answering: BiDAF with self-attention on SQuAD 1.1, and the scores of its official script."""

from elmo_plugin.tasks.squad.articles import Answer, Paragraph, Question, read_squad
from elmo_plugin.tasks.squad.batches import ParagraphBatchSampler
from elmo_plugin.tasks.squad.dataset_reader import SquadReader, TokenizedParagraph
from elmo_plugin.tasks.squad.model import SquadBidafSelfAttention
from elmo_plugin.tasks.squad.predictor import SquadPredictor
from elmo_plugin.tasks.squad.scores import SquadEmAndF1, SquadScores, score_squad

__all__ = [
    "Answer",
    "Paragraph",
    "ParagraphBatchSampler",
    "Question",
    "SquadBidafSelfAttention",
    "SquadEmAndF1",
    "SquadPredictor",
    "SquadReader",
    "SquadScores",
    "TokenizedParagraph",
    "read_squad",
    "score_squad",
]
