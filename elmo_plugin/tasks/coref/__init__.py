"""Coreference: the span ranking model of Lee et al. (2017) on documents of CoNLL-2012."""

from elmo_plugin.tasks.coref.dataset_reader import CorefReader
from elmo_plugin.tasks.coref.documents import CorefDocument
from elmo_plugin.tasks.coref.metrics import score_coref
from elmo_plugin.tasks.coref.model import CorefPredictor, CorefSpanRanking
