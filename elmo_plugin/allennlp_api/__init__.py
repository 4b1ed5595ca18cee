"""ELMo with the arguments, the answers and the names of parameters that AllenNLP's has, for code,
configurations and archives that know those. In plain torch, but for what a configuration needs:
`token_embedder`, `indexer`, `configuration`.
"""

from elmo_plugin.allennlp_api.bilm import _ElmoBiLm, _ElmoCharacterEncoder
from elmo_plugin.allennlp_api.elmo import Elmo
from elmo_plugin.allennlp_api.embedder import ElmoEmbedder
from elmo_plugin.allennlp_api.scalar_mix import ScalarMix
from elmo_plugin.allennlp_api.words import batch_to_ids

__all__ = ["Elmo", "ElmoEmbedder", "ScalarMix", "_ElmoBiLm", "_ElmoCharacterEncoder", "batch_to_ids"]
