"""ELMo for AllenNLP: a biLM, its embeddings and the task models of Peters et al. (2018)."""

__version__ = "0.1.0"
