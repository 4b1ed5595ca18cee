"""Semantic role labelling: the highway LSTM of He et al. (2017) on PropBank annotation."""

from elmo_plugin.tasks.srl.dataset_reader import SrlPredicatesReader, SrlReader
from elmo_plugin.tasks.srl.metrics import score_srl
from elmo_plugin.tasks.srl.model import SrlHighwayLstm, SrlPredictor
from elmo_plugin.tasks.srl.predicates import SrlPredicates, SrlPredicatesPredictor
