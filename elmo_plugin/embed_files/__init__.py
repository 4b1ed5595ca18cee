"""Files of text to files of vectors: `run.embed_file` for one, `cluster.embed_shards` for many."""

from elmo_plugin.embed_files.cluster import embed_shards
from elmo_plugin.embed_files.formats import FORMATS
from elmo_plugin.embed_files.run import embed_file
from elmo_plugin.embed_files.settings import DTYPES, TOKENIZERS, Settings

__all__ = [
    "DTYPES",
    "FORMATS",
    "TOKENIZERS",
    "Settings",
    "embed_file",
    "embed_shards",
]
