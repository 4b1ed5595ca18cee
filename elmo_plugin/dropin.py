"""What a project that uses AllenNLP's ELMo lists in `.allennlp_plugins`: importing it puts our token embedder
and our token indexer in the place of AllenNLP's `elmo_token_embedder` and `elmo_characters`.
"""

from allennlp.data import TokenIndexer
from allennlp.modules import TokenEmbedder

from elmo_plugin.allennlp_api.indexer import ElmoCharactersIndexer
from elmo_plugin.allennlp_api.token_embedder import ElmoTokenEmbedder


def register() -> None:
    """To do so twice is harmless. AllenNLP's own are registered by now: the imports above have done it."""
    TokenEmbedder.register("elmo_token_embedder", exist_ok=True)(ElmoTokenEmbedder)
    TokenIndexer.register("elmo_characters", exist_ok=True)(ElmoCharactersIndexer)


register()
