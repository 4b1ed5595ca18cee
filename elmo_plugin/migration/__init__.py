"""Moves old projects: AllenNLP's ELMo classes on this biLM (`allennlp_api`), configurations and
archives of AllenNLP 0.x and 1.x (`porting`), and the layers and word splitters that they need
(`old_layers`).
"""
