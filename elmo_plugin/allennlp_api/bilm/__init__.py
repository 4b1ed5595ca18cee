"""AllenNLP's modules of a biLM, with their parts and parameters, on our biLM."""

from elmo_plugin.allennlp_api.bilm.elmo_bilm import ElmoBiLm, _ElmoBiLm, _ElmoCharacterEncoder
from elmo_plugin.allennlp_api.bilm.names import CHARACTERS, published_options, to_allennlp
from elmo_plugin.allennlp_api.bilm.network import AllenNlpBiLm

__all__ = [
    "CHARACTERS",
    "AllenNlpBiLm",
    "ElmoBiLm",
    "_ElmoBiLm",
    "_ElmoCharacterEncoder",
    "published_options",
    "to_allennlp",
]
