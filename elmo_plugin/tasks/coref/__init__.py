"""Coreference: documents with clusters of mentions, and the scores of CoNLL-2012."""

from elmo_plugin.tasks.coref.clusters import Mention, format_clusters, parse_clusters
from elmo_plugin.tasks.coref.conll import CorefDocument, parse_documents, read_documents, write_documents
from elmo_plugin.tasks.coref.dataset_reader import CorefReader
from elmo_plugin.tasks.coref.metrics import CorefConll, CorefScores
from elmo_plugin.tasks.coref.model import CorefSpanRanking
from elmo_plugin.tasks.coref.predictor import CorefPredictor
from elmo_plugin.tasks.coref.scorer import score_coref

__all__ = [
    "CorefConll",
    "CorefDocument",
    "CorefPredictor",
    "CorefReader",
    "CorefScores",
    "CorefSpanRanking",
    "Mention",
    "format_clusters",
    "parse_clusters",
    "parse_documents",
    "read_documents",
    "score_coref",
    "write_documents",
]
