"""Question answering: BiDAF with self-attention on SQuAD 1.1, and the scores of its official
script.
"""

from elmo_plugin.tasks.squad.articles import Answer, Paragraph, Question
from elmo_plugin.tasks.squad.dataset_reader import SquadReader
from elmo_plugin.tasks.squad.metrics import read_predictions, score_squad
from elmo_plugin.tasks.squad.model import SquadBidafSelfAttention, SquadPredictor
