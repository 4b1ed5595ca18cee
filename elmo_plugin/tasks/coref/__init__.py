"""Coreference: documents with clusters of mentions, and the scores of CoNLL-2012."""

from elmo_plugin.tasks.coref.clusters import Mention, format_clusters, parse_clusters
from elmo_plugin.tasks.coref.conll import CorefDocument, parse_documents, read_documents, write_documents
from elmo_plugin.tasks.coref.metrics import CorefConll
from elmo_plugin.tasks.coref.scoring import CorefScores, score_coref

__all__ = [
    "CorefConll",
    "CorefDocument",
    "CorefScores",
    "Mention",
    "format_clusters",
    "parse_clusters",
    "parse_documents",
    "read_documents",
    "score_coref",
    "write_documents",
]
