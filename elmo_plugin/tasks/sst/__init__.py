"""Sentiment: the biattentive classification network of McCann et al. (2017) on sentiment treebanks."""

from elmo_plugin.tasks.sst.dataset_reader import SstTreesReader
from elmo_plugin.tasks.sst.model import SstBcn, SstPredictor
