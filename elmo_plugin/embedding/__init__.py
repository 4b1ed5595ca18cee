"""ELMo's mix of biLM layers, in plain torch (`scalar_mix`, `elmo`) and as parts of AllenNLP (the rest)."""

from elmo_plugin.embedding.elmo import Elmo, ElmoOutput
from elmo_plugin.embedding.scalar_mix import ScalarMix

__all__ = ["Elmo", "ElmoOutput", "ScalarMix"]
