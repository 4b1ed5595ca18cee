"""AllenNLP's modules of a biLM, with their parts and parameters, on our biLM."""

from elmo_plugin.allennlp_api.bilm.elmo_bilm import ElmoBiLm
from elmo_plugin.allennlp_api.bilm.names import CHARACTERS, published_options, to_allennlp
from elmo_plugin.allennlp_api.bilm.network import AllenNlpBiLm
from elmo_plugin.allennlp_api.bilm.published import _ElmoBiLm, _ElmoCharacterEncoder

__all__ = [
    "CHARACTERS",
    "AllenNlpBiLm",
    "ElmoBiLm",
    "_ElmoBiLm",
    "_ElmoCharacterEncoder",
    "published_options",
    "to_allennlp",
]
