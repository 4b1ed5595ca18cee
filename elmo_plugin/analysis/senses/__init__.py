"""Word senses by the nearest mean vector of a biLM (Peters et al., 2018, section 5.3, table 5)."""

from elmo_plugin.analysis.senses.corpus import SenseSentence, Target, read_senses
from elmo_plugin.analysis.senses.first_senses import read_first_senses, wordnet_first_senses
from elmo_plugin.analysis.senses.nearest_sense import TIES, NearestSense, SenseScore, score_senses

__all__ = [
    "TIES",
    "NearestSense",
    "SenseScore",
    "SenseSentence",
    "Target",
    "read_first_senses",
    "read_senses",
    "score_senses",
    "wordnet_first_senses",
]
