"""The predictions of a trained model: in a terminal, in files, as HTML."""

FORMATS = (".jsonl", ".json", ".csv", ".conll", ".html")
"""The suffixes of files of predictions."""
