"""ELMo with the arguments, the answers and the names of parameters that AllenNLP's has, for code,
configurations and archives that know those. In plain torch, but for what `elmo_plugin.dropin` registers:
`token_embedder`, `indexer`, `archived`.
"""

from elmo_plugin.allennlp_api.elmo import Elmo
from elmo_plugin.allennlp_api.embedder import ElmoEmbedder, batch_to_ids

__all__ = ["Elmo", "ElmoEmbedder", "batch_to_ids"]
