"""The predictions of a trained model: in a terminal, in files, as HTML."""

from pathlib import Path

from elmo_plugin.common.errors import BiLmError

FORMATS = (".jsonl", ".json", ".csv", ".conll", ".html")
"""The suffixes of files of predictions."""


def check_suffix(path: str | Path) -> None:
    """
    Raises `BiLmError` unless the suffix of the path is one of `FORMATS`. `elmo predict` calls this
    before it imports torch, so that a wrong suffix is reported at once.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise BiLmError(f"expected {', '.join(FORMATS)}, got {path}")
