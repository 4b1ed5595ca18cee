"""Named entity recognition: the biLSTM-CRF of Peters et al. (2018) on CoNLL-2003 columns."""

from elmo_plugin.tasks.ner.dataset_reader import Conll2003Reader
from elmo_plugin.tasks.ner.metrics import score_tagged
from elmo_plugin.tasks.ner.model import NerBiLstmCrf, NerPredictor
