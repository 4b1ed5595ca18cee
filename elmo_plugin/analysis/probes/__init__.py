"""Linear probes of a biLM's layers (Peters et al., 2018, section 5.3, table 6)."""

from elmo_plugin.analysis.probes.layers import ProbeScore, probe_layers, word_vectors
from elmo_plugin.analysis.probes.linear_probes import LinearProbes
from elmo_plugin.analysis.probes.tagged_words import (
    TaggedSentence,
    guess_tags,
    read_tagged,
    with_control_tags,
)

__all__ = [
    "LinearProbes",
    "ProbeScore",
    "TaggedSentence",
    "guess_tags",
    "probe_layers",
    "read_tagged",
    "with_control_tags",
    "word_vectors",
]
