"""Files of text to files of vectors: `embed_file` for one, `embed_shards` for many on a cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_plugin.embed_files.settings import DTYPES, FORMATS, LAYOUTS, TOKENIZERS, Settings

if TYPE_CHECKING:
    from elmo_plugin.embed_files.dask_engine import embed_shards
    from elmo_plugin.embed_files.hdf5_output import sentence_key
    from elmo_plugin.embed_files.run import embed_file

__all__ = [
    "DTYPES",
    "FORMATS",
    "LAYOUTS",
    "TOKENIZERS",
    "Settings",
    "embed_file",
    "embed_shards",
    "sentence_key",
]

_LAZY = {"embed_file": "run", "embed_shards": "dask_engine", "sentence_key": "hdf5_output"}


def __getattr__(name: str) -> Any:
    """Imports AllenNLP (90 MB, seconds) only for who starts an embedding: workers do without it."""
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
