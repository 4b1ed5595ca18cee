"""
Layers and an indexer that compute as AllenNLP 0.x did, with the same weights. `elmo port`
writes them into old archives.
"""
