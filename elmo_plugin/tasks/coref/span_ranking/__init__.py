"""The parts of span ranking (Lee et al., 2017): spans and their vectors, antecedents and their links."""

from elmo_plugin.tasks.coref.span_ranking.antecedents import AntecedentScorer
from elmo_plugin.tasks.coref.span_ranking.links import (
    AntecedentLogits,
    Link,
    antecedent_places,
    average_antecedent_logits,
    best_links,
    clusters_of,
    marginal_loss,
)
from elmo_plugin.tasks.coref.span_ranking.span_encoder import SpanEncoder, further_layers
from elmo_plugin.tasks.coref.span_ranking.spans import best_spans, spans_in_sentences

__all__ = [
    "AntecedentLogits",
    "AntecedentScorer",
    "Link",
    "SpanEncoder",
    "antecedent_places",
    "average_antecedent_logits",
    "best_links",
    "best_spans",
    "clusters_of",
    "further_layers",
    "marginal_loss",
    "spans_in_sentences",
]
