"""The nearest neighbours of a word in its sentence (Peters et al., 2018, section 5.3, table 4)."""

from elmo_plugin.analysis.neighbors.index import CorpusIndex, open_index, unit_length
from elmo_plugin.analysis.neighbors.report import Neighbor, Query, as_html, as_json, as_text
from elmo_plugin.analysis.neighbors.search import (
    ApproximateSearch,
    ExactSearch,
    Search,
    find_neighbors,
    import_faiss,
)
from elmo_plugin.analysis.neighbors.static_vectors import StaticVectors

__all__ = [
    "ApproximateSearch",
    "CorpusIndex",
    "ExactSearch",
    "Neighbor",
    "Query",
    "Search",
    "StaticVectors",
    "as_html",
    "as_json",
    "as_text",
    "find_neighbors",
    "import_faiss",
    "open_index",
    "unit_length",
]
