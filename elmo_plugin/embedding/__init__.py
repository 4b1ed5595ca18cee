"""ELMo's mix of biLM layers: in plain torch, and as AllenNLP's token indexer and token embedder."""

from elmo_plugin.embedding.archive_restore import EXTRA_STATE, EmbedderMetadata, find_bilms, stored_state
from elmo_plugin.embedding.mixing_weights import Mix, layer_name, read_mixes
from elmo_plugin.embedding.representations import (
    ElmoOutput,
    ElmoRepresentations,
    chosen_layers,
    share_frozen_bilms,
)
from elmo_plugin.embedding.scalar_mix import ScalarMix, weighted_sum
from elmo_plugin.embedding.session import BiLmSession

__all__ = [
    "EXTRA_STATE",
    "BiLmSession",
    "ElmoOutput",
    "ElmoRepresentations",
    "EmbedderMetadata",
    "Mix",
    "ScalarMix",
    "chosen_layers",
    "find_bilms",
    "layer_name",
    "read_mixes",
    "share_frozen_bilms",
    "stored_state",
    "weighted_sum",
]
