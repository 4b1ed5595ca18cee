"""What a trained model says: in a terminal, in files, as HTML."""

FORMATS = (".jsonl", ".csv", ".conll", ".html")
"""The suffixes of files of predictions."""
