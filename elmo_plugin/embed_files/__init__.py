"""Files of text to files of vectors: `run.embed_file` for one, `cluster.embed_shards` for many."""
