"""Files of text to files of vectors: `embed_file` for one, `embed_shards` for many on a cluster."""

from elmo_plugin.embed_files.chunks import Record
from elmo_plugin.embed_files.outputs import OUTPUT_FORMATS, sentence_key
from elmo_plugin.embed_files.run import embed_file, embed_shards
from elmo_plugin.embed_files.settings import EmbedSettings
