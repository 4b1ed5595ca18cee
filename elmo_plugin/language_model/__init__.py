"""The perplexity of text under a biLM, and the training of a biLM (with AllenNLP)."""

from elmo_plugin.language_model.own_text import describe_text, text_recipe, write_text
from elmo_plugin.language_model.perplexity import measure_perplexity

# Parts that need AllenNLP are imported from their files.
__all__ = ["describe_text", "measure_perplexity", "text_recipe", "write_text"]
