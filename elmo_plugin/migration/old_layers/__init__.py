"""
Layers and an indexer that compute what AllenNLP 0.x computed, with the same weights. `elmo port`
writes them into old archives.
"""
