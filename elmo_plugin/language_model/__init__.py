"""The perplexity of text under a biLM, and the training of a biLM (with AllenNLP)."""

from elmo_plugin.language_model.corpus import (
    find_shards,
    frequent_words,
    prepare_corpus,
    vocabulary_counts,
    write_vocabulary,
)
from elmo_plugin.language_model.own_text import describe_text, text_recipe, write_text
from elmo_plugin.language_model.perplexity import STATES, measure_perplexity

# What needs AllenNLP is imported from its file.
__all__ = [
    "STATES",
    "describe_text",
    "find_shards",
    "frequent_words",
    "measure_perplexity",
    "prepare_corpus",
    "text_recipe",
    "vocabulary_counts",
    "write_text",
    "write_vocabulary",
]
