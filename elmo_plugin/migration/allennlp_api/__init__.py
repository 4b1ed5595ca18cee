"""ELMo with the arguments, the outputs and the weights' names of AllenNLP's, for existing code,
configurations and archives. It is plain torch; only `token_embedder` imports AllenNLP.
"""

from typing import TYPE_CHECKING, Any

from elmo_plugin.migration.allennlp_api.elmo import AllenNlpScalarMix as ScalarMix
from elmo_plugin.migration.allennlp_api.elmo import Elmo
from elmo_plugin.migration.allennlp_api.embedder import ElmoEmbedder, batch_to_ids

if TYPE_CHECKING:
    from elmo_plugin.migration.allennlp_api.token_embedder import (
        AllenNlpElmoTokenEmbedder as ElmoTokenEmbedder,
    )

__all__ = ["Elmo", "ElmoEmbedder", "ElmoTokenEmbedder", "ScalarMix", "batch_to_ids"]


def __getattr__(name: str) -> Any:
    """Imports parts that need AllenNLP on first access (PEP 562)."""
    if name == "ElmoTokenEmbedder":
        from elmo_plugin.migration.allennlp_api.token_embedder import AllenNlpElmoTokenEmbedder

        return AllenNlpElmoTokenEmbedder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
