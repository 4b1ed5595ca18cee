"""Files of text to files of vectors: `embed_file` for one, `embed_shards` for many on a cluster."""

from elmo_plugin.embed_files.dask_engine import embed_shards
from elmo_plugin.embed_files.hdf5_output import sentence_key
from elmo_plugin.embed_files.run import OUTPUT_FORMATS, embed_file
from elmo_plugin.embed_files.settings import DTYPES, LAYOUTS, TOKENIZERS, EmbedSettings

__all__ = [
    "DTYPES",
    "LAYOUTS",
    "OUTPUT_FORMATS",
    "TOKENIZERS",
    "EmbedSettings",
    "embed_file",
    "embed_shards",
    "sentence_key",
]
